package dev.perdure.postgres.write.change;

import dev.perdure.postgres.jdbc.Columns;
import dev.perdure.postgres.jdbc.Micros;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.write.change.Batch.Placed;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.Task;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The runs that a batch starts, ordered by id, so that two batches never wait for each other. */
public final class NewRuns {
    /**
     * A run to be started.
     *
     * @param key its key, if it is started
     * @param run the run
     * @param owned whether it starts as running
     * @param asked the change that starts it, or null if a transition starts it
     * @param starter that transition, or null
     * @param tasks the tasks that start with it
     * @param mails the mail that it starts with
     * @param after the keys of the tasks that it comes after, or null if it has none
     */
    public record RunToStart(
            long key,
            NewRun run,
            boolean owned,
            @Nullable Placed<Change.Start> asked,
            Change.@Nullable Advance starter,
            List<Task> tasks,
            List<Mail> mails,
            @Nullable List<Long> after) {
        static RunToStart of(Placed<Change.Start> asked) {
            Change.Start start = asked.change();
            boolean owned = start.owner() != null && start.tasks().isEmpty();
            return new RunToStart(0, start.run(), owned, asked, null, start.tasks(), start.mails(), null);
        }

        static RunToStart of(Effect.Start start, Change.Advance starter) {
            return new RunToStart(0, start.run(), false, null, starter, start.tasks(), start.mails(), null);
        }

        RunToStart withNumber(long number) {
            long key = Keys.key(number, run);
            return new RunToStart(
                    holds() ? Keys.holdersKey(key) : key, run, owned, asked, starter, tasks, mails, after);
        }

        private boolean holds() {
            return run.object() != null && run.object().hold() != ObjectCall.Hold.SHARED;
        }

        RunToStart withAfter(List<Long> leaves) {
            return new RunToStart(key, run, owned, asked, starter, tasks, mails, leaves);
        }

        /** Whether the worker of the batch gets the tasks that begin at once. */
        boolean ownsTasks() {
            return asked != null && asked.change().owner() != null;
        }
    }

    /**
     * @param worker the worker of the batch, or null for a client
     */
    record Row(RunToStart birth, @Nullable Integer worker) {
        NewRun run() {
            return birth.run();
        }

        @Nullable
        Integer owner() {
            return birth.owned() ? worker : null;
        }

        /** The delay of a run with tasks is a delay of these tasks. */
        @Nullable
        Long delay() {
            return birth.after() == null ? Micros.ofNullable(birth.run().delay()) : null;
        }

        @Nullable
        String after() {
            return birth.after() == null ? null : NewTasks.array(birth.after().stream());
        }

        @Nullable
        Long parent() {
            Parent parent = birth.run().parent();
            return parent == null || parent.isElsewhere()
                    ? null
                    : Long.valueOf(parent.run().key());
        }

        @Nullable
        Integer parentPosition() {
            Parent parent = birth.run().parent();
            return parent == null || !parent.answers() || parent.isElsewhere()
                    ? null
                    : Integer.valueOf(parent.position());
        }
    }

    public static final Columns<Row> COLUMNS = Columns.<Row>of()
            .bigint("key", row -> row.birth().key())
            .with(RunColumns.WITH_INPUT.in(Row::run))
            .integerOrNull("owner", Row::owner)
            .bigintOrNull("delay", Row::delay)
            .text("after", Row::after)
            .bigintOrNull("parent", Row::parent)
            .integerOrNull("parent_position", Row::parentPosition)
            .with(Rights.columns("starter", "starter_epoch", row -> row.birth().starter()));

    /** The limits of the runs that have to begin within a time from their start. */
    public static final Columns<RunToStart> LIMITS = Columns.<RunToStart>of()
            .bigint("key", RunToStart::key)
            .bigint("within", birth -> within(birth.run()))
            .bigint("from_start", birth -> within(birth.run()) + delay(birth.run()));

    private static long within(NewRun run) {
        return Micros.of(Objects.requireNonNull(run.admission().startWithin()));
    }

    private static long delay(NewRun run) {
        return run.delay() == null ? 0 : Micros.of(run.delay());
    }

    public final List<RunToStart> all;

    NewRuns(List<RunToStart> births) {
        this.all = births.stream()
                .sorted(Comparator.comparing(birth -> birth.run().id()))
                .toList();
    }

    /** The runs that have to begin within a time. */
    public List<RunToStart> limited() {
        return all.stream()
                .filter(birth -> birth.run().admission().startWithin() != null && !birth.ownsTasks())
                .toList();
    }

    public long[] keys() {
        return all.stream().mapToLong(RunToStart::key).toArray();
    }

    public void bind(Parameters parameters, @Nullable Integer worker) throws SQLException {
        COLUMNS.bind(
                parameters, all.stream().map(birth -> new Row(birth, worker)).toList());
    }
}
