package dev.perdure.postgres;

import dev.perdure.spi.Change;
import dev.perdure.spi.Effect;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the transitions of a batch do to what belongs to their own runs. */
final class OwnEffects {
    private record Own<E extends Effect>(long key, E effect) {}

    private final Map<Long, Change.Advance> acting = new LinkedHashMap<>();
    private final List<Own<Effect.Take>> takes = new ArrayList<>();
    private final List<Own<Effect.Publish>> publishes = new ArrayList<>();
    private final List<Own<Effect.Awakeable>> awakeables = new ArrayList<>();
    private final List<Own<Effect.Subscribe>> subscribes = new ArrayList<>();

    boolean isEmpty() {
        return acting.isEmpty();
    }

    void take(Change.Advance sender, Effect.Take take) {
        takes.add(own(sender, take));
    }

    void publish(Change.Advance sender, Effect.Publish publish) {
        publishes.add(own(sender, publish));
    }

    void awakeable(Change.Advance sender, Effect.Awakeable awakeable) {
        awakeables.add(own(sender, awakeable));
    }

    void subscribe(Change.Advance sender, Effect.Subscribe subscribe) {
        subscribes.add(own(sender, subscribe));
    }

    private <E extends Effect> Own<E> own(Change.Advance sender, E effect) {
        acting.put(sender.run().key(), sender);
        return new Own<>(sender.run().key(), effect);
    }

    void bindActing(Parameters parameters) throws SQLException {
        Rights.bind(parameters, List.copyOf(acting.values()), sender -> sender);
    }

    void bind(Parameters parameters, @Nullable Instant time) throws SQLException {
        parameters
                .longs(keys(takes))
                .longs(takes.stream().mapToLong(own -> own.effect().number()).toArray());
        parameters
                .time(time)
                .longs(keys(publishes))
                .ints(publishes.stream()
                        .mapToInt(own -> own.effect().position())
                        .toArray())
                .texts(publishes.stream().map(own -> own.effect().name()).toArray(String[]::new))
                .bytes(publishes.stream()
                        .map(own -> own.effect().payload().bytes())
                        .toArray(byte[][]::new));
        parameters
                .longs(keys(awakeables))
                .ints(awakeables.stream()
                        .mapToInt(own -> own.effect().position())
                        .toArray())
                .texts(awakeables.stream().map(own -> own.effect().hash()).toArray(String[]::new));
        parameters
                .longs(keys(subscribes))
                .ints(subscribes.stream()
                        .mapToInt(own -> own.effect().position())
                        .toArray())
                .texts(subscribes.stream().map(own -> own.effect().event()).toArray(String[]::new))
                .texts(subscribes.stream().map(own -> own.effect().key()).toArray(String[]::new));
    }

    private static long[] keys(List<? extends Own<?>> owns) {
        return owns.stream().mapToLong(Own::key).toArray();
    }
}
