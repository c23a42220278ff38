package dev.perdure.postgres.write.change;

import dev.perdure.postgres.jdbc.Columns;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The effects of the transitions of a batch on their own runs. */
public final class OwnEffects {
    private record Own<E extends Effect>(long key, E effect) {}

    private static final Columns<Change.Advance> ACTING = Rights.columns("key", "epoch", sender -> sender);

    private static final Columns<Own<Effect.Take>> TAKES = Columns.<Own<Effect.Take>>of()
            .bigint("key", Own::key)
            .bigint("number", own -> own.effect().number());

    private static final Columns<Own<Effect.Publish>> PUBLISHES = Columns.<Own<Effect.Publish>>of()
            .bigint("key", Own::key)
            .integer("position", own -> own.effect().position())
            .text("name", own -> own.effect().name())
            .bytes("payload", own -> own.effect().payload().bytes());

    private static final Columns<Own<Effect.Awakeable>> AWAKEABLES = Columns.<Own<Effect.Awakeable>>of()
            .bigint("key", Own::key)
            .integer("position", own -> own.effect().position())
            .text("hash", own -> own.effect().hash());

    private static final Columns<Own<Effect.Subscribe>> SUBSCRIBES = Columns.<Own<Effect.Subscribe>>of()
            .bigint("key", Own::key)
            .integer("position", own -> own.effect().position())
            .text("event", own -> own.effect().event())
            .text("event_key", own -> own.effect().key());

    private final Map<Long, Change.Advance> acting = new LinkedHashMap<>();
    private final List<Own<Effect.Take>> takes = new ArrayList<>();
    private final List<Own<Effect.Publish>> publishes = new ArrayList<>();
    private final List<Own<Effect.Awakeable>> awakeables = new ArrayList<>();
    private final List<Own<Effect.Subscribe>> subscribes = new ArrayList<>();

    public boolean isEmpty() {
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

    /** The statement with the columns of all of these. */
    public static String put(String statement) {
        return statement
                .replace("${acting}", ACTING.many("g"))
                .replace("${takes}", TAKES.many("g"))
                .replace("${publishes}", PUBLISHES.many("g"))
                .replace("${awakeables}", AWAKEABLES.many("g"))
                .replace("${subscribes}", SUBSCRIBES.many("g"));
    }

    public void bindActing(Parameters parameters) throws SQLException {
        ACTING.bind(parameters, List.copyOf(acting.values()));
    }

    public void bind(Parameters parameters, @Nullable Instant time) throws SQLException {
        TAKES.bind(parameters, takes);
        PUBLISHES.bind(parameters.time(time), publishes);
        AWAKEABLES.bind(parameters, awakeables);
        SUBSCRIBES.bind(parameters, subscribes);
    }
}
