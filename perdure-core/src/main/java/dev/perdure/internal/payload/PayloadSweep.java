package dev.perdure.internal.payload;

import dev.perdure.spi.Removals;
import dev.perdure.spi.payload.PayloadReference;
import dev.perdure.spi.payload.PayloadStore;
import dev.perdure.spi.payload.Payloads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Removes payloads to which no row refers any more: those of removed runs, of values that were replaced, and those whose
 * commit never came. The workers of all processes take turns. It does no harm if two do it at once.
 *
 * <p>A process may have read or written a reference and commit it a moment later, so a payload is removed only when no
 * row has referred to it for {@link Removals#COPIES}.
 */
public final class PayloadSweep {
    private static final int PAGE = 100;

    /** How long no other worker looks at all payloads after one has begun to. */
    private static final Duration TURN = Duration.ofMinutes(4);

    /** How long a worker rests before it asks for the turn again: long enough that a lone worker always gets it. */
    public static final Duration REST = TURN.plusMinutes(1);

    private final PayloadStore payloads;
    private final Payloads runs;

    /**
     * Removes payloads.
     *
     * @param payloads where they are
     * @param runs knows to which payloads the runs refer
     */
    public PayloadSweep(PayloadStore payloads, Payloads runs) {
        this.payloads = payloads;
        this.runs = runs;
    }

    /** Looks at every payload, if it is this worker's turn. Returns how many it has removed. */
    public int passInTurn(BooleanSupplier stop) {
        return runs.takeTurn(TURN) ? pass(stop) : 0;
    }

    /** Looks at every payload once. Returns how many payloads and unfinished uploads it has removed. */
    public int pass(BooleanSupplier stop) {
        int removed = payloads.removeUploads(Removals.COPIES);
        @Nullable PayloadReference after = null;
        List<PayloadReference> page;
        do {
            page = payloads.list(after, PAGE);
            if (page.isEmpty()) {
                break;
            }
            Set<PayloadReference> referred = runs.referred(page);
            List<PayloadReference> unreferred = new ArrayList<>(page);
            unreferred.removeAll(referred);
            removed += payloads.remove(unreferred, referred, Removals.COPIES);
            after = page.getLast();
        } while (page.size() == PAGE && !stop.getAsBoolean());
        return removed;
    }
}
