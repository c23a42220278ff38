package dev.perdure.spi;

import dev.perdure.RunState;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The one text that says why a run is in its state, the same for every store. */
public final class WaitReason {
    private WaitReason() {}

    /**
     * Why a run is in its state.
     *
     * @param state its state
     * @param known what the store knows about it, or null
     * @param wakeAt when its timer or back-off ends, or null
     * @param awaited what it waits for apart from that
     */
    public static Optional<String> of(
            RunState state, @Nullable String known, @Nullable Instant wakeAt, List<String> awaited) {
        return switch (state) {
            case SUSPENDED -> known == null ? suspended(wakeAt, awaited) : Optional.of(known);
            case BACKING_OFF ->
                Optional.ofNullable(wakeAt)
                        .map(at -> (known == null ? "" : known + " ") + "The next attempt is at %s.".formatted(at))
                        .or(() -> Optional.ofNullable(known));
            case PENDING, READY, RUNNING, PAUSED, COMPLETED, FAILED, CANCELLED, SKIPPED -> Optional.ofNullable(known);
        };
    }

    private static Optional<String> suspended(@Nullable Instant wakeAt, List<String> awaited) {
        if (awaited.isEmpty()) {
            return Optional.ofNullable(wakeAt).map("Waits until %s."::formatted);
        }
        String until = wakeAt == null ? "" : ", until %s at the latest".formatted(wakeAt);
        return Optional.of("Waits for %s%s.".formatted(String.join(", ", awaited), until));
    }
}
