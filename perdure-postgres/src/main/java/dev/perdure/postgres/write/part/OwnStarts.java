package dev.perdure.postgres.write.part;

import dev.perdure.postgres.jdbc.Columns;
import dev.perdure.postgres.jdbc.Part;
import dev.perdure.postgres.lane.Sending;
import dev.perdure.postgres.write.change.Keys;
import dev.perdure.postgres.write.change.RunColumns;
import dev.perdure.postgres.write.part.OneChangeSql.KeyedRun;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.RunRef;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** In a batch with beliefs, the runs that start as running. */
public final class OwnStarts {
    static final Columns<KeyedRun> COLUMNS = columns(RunColumns.WITH_INPUT);
    static final Columns<KeyedRun> PLAIN = columns(RunColumns.PLAIN_WITH_INPUT);

    private static Columns<KeyedRun> columns(Columns<NewRun> ofRun) {
        return Columns.<KeyedRun>of().bigint("key", KeyedRun::key).with(ofRun.in(KeyedRun::run));
    }

    private record Start(int index, KeyedRun keyed) {}

    private final List<Start> all = new ArrayList<>();

    public void add(int index, NewRun run, Keys keys) {
        all.add(new Start(index, new KeyedRun(Keys.key(keys.take(), run), run)));
    }

    public boolean isEmpty() {
        return all.isEmpty();
    }

    /** Ordered by id, so that two batches with the same ids do not wait for each other. */
    public Part part(OwnSql sql, Sending sending, Outcome[] outcomes) {
        all.sort(Comparator.comparing(start -> start.keyed().run().id()));
        boolean plain =
                all.stream().allMatch(start -> RunColumns.isPlain(start.keyed().run()));
        return Part.timed(
                plain ? sql.startPlain : sql.start,
                parameters -> (plain ? PLAIN : COLUMNS)
                        .bind(
                                sending.fence(parameters),
                                all.stream().map(Start::keyed).toList()),
                at -> all.forEach(start -> outcomes[start.index()] =
                        at == null ? new Outcome.Fenced() : new Outcome.Started(ref(start.keyed()), true, at)));
    }

    private static RunRef ref(KeyedRun keyed) {
        return new RunRef(keyed.run().id(), keyed.key());
    }
}
