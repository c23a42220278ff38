package dev.perdure.postgres.write.change;

import dev.perdure.postgres.jdbc.Columns;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.NewRun;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * In a batch with beliefs, what transitions do besides ({@link SelfContained#onlyTakesAndStarts}): they take mail of
 * their runs, and start runs that report to these.
 */
public final class TakesAndStarts {
    /** A run to be started: to which run it reports, and how much mail it starts with. */
    private record Start(long key, NewRun run, long parent, int mails) {}

    private record FirstMail(long key, long number, Mail mail) {}

    private record Taken(long key, long number) {}

    private static final Columns<Start> STARTS = Columns.<Start>of()
            .bigint("key", Start::key)
            .with(RunColumns.WITH_INPUT.in(Start::run))
            .bigint("parent", Start::parent)
            .integer("mails", Start::mails);

    private static final Columns<FirstMail> MAILS = Columns.<FirstMail>of()
            .bigint("key", FirstMail::key)
            .bigint("number", FirstMail::number)
            .with(MailColumns.COLUMNS.in(FirstMail::mail));

    private static final Columns<Taken> TAKES =
            Columns.<Taken>of().bigint("key", Taken::key).bigint("number", Taken::number);

    private final List<Start> starts = new ArrayList<>();
    private final List<FirstMail> mails = new ArrayList<>();
    private final List<Taken> takes = new ArrayList<>();

    public void add(Change.Advance advance, Keys keys) {
        for (Effect effect : advance.effects()) {
            switch (effect) {
                case Effect.Take take -> takes.add(new Taken(advance.run().key(), take.number()));
                case Effect.Start start -> add(start, advance.run().key(), keys);
                default -> throw new IllegalStateException("Not such an effect: " + effect);
            }
        }
    }

    private void add(Effect.Start start, long parent, Keys keys) {
        long key = Keys.key(keys.take(), start.run());
        starts.add(new Start(key, start.run(), parent, start.mails().size()));
        long number = 0;
        for (Mail mail : start.mails()) {
            mails.add(new FirstMail(key, ++number, mail));
        }
    }

    public boolean isEmpty() {
        return starts.isEmpty() && takes.isEmpty();
    }

    public boolean starts() {
        return !starts.isEmpty();
    }

    public boolean takes() {
        return !takes.isEmpty();
    }

    /** The statements with the columns of these relations. */
    public static String put(String statement) {
        return statement
                .replace("${reporting_runs}", STARTS.many("g"))
                .replace("${first_mails}", MAILS.many("g"))
                .replace("${takes}", TAKES.many("g"));
    }

    /** Ordered by id, so that two batches with the same ids do not wait for each other. */
    public void bindStarts(Parameters parameters) throws SQLException {
        starts.sort(Comparator.comparing(start -> start.run().id()));
        STARTS.bind(parameters, starts);
        MAILS.bind(parameters, mails);
    }

    public void bindTakes(Parameters parameters) throws SQLException {
        TAKES.bind(parameters, takes);
    }
}
