package dev.perdure.postgres.write.part;

import dev.perdure.postgres.jdbc.Columns;
import dev.perdure.postgres.jdbc.Micros;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Part;
import dev.perdure.postgres.lane.Sending;
import dev.perdure.postgres.write.change.Keys;
import dev.perdure.postgres.write.change.LocalDag;
import dev.perdure.postgres.write.change.LocalDag.Member;
import dev.perdure.postgres.write.change.LocalDags;
import dev.perdure.postgres.write.change.NewTasks;
import dev.perdure.postgres.write.change.RunColumns;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.NewRun;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The starts of runs with tasks in a batch with beliefs. */
public final class LocalDagStarts {
    /**
     * A run to start, with its slices of the edges.
     *
     * @param afterFrom where the list of runs that it comes after begins
     * @param afterTo where that list ends
     * @param beforeTo where the list of runs that come after it ends
     */
    record Row(Member member, int afterFrom, int afterTo, int beforeTo) {
        long key() {
            return member.ref.key();
        }

        private boolean isTask() {
            return member != member.dag.head;
        }

        int begins() {
            return isTask() && member.begins() ? 1 : 0;
        }

        boolean hasInput() {
            return !isTask() || member.ownInput() != null;
        }

        @Nullable
        Long bound() {
            NewRun head = member.dag.head.run;
            return Micros.ofNullable(begins() == 1 ? shorter(member.run, head) : head.timeout());
        }
    }

    static final Columns<Row> COLUMNS = columns(RunColumns.TIMED);
    static final Columns<Row> PLAIN = columns(RunColumns.PLAIN_TIMED);

    private static Columns<Row> columns(Columns<NewRun> ofRun) {
        return Columns.<Row>of()
                .bigint("key", Row::key)
                .with(ofRun.in(row -> row.member().run))
                .integer("begins", Row::begins)
                .bigintOrNull("bound", Row::bound)
                .bigintOrNull(
                        "parent",
                        row -> row.isTask()
                                ? Long.valueOf(row.member().dag.head.ref.key())
                                : null)
                .integer("after_from", Row::afterFrom)
                .integer("after_to", Row::afterTo)
                .integer("before_to", Row::beforeTo);
    }

    static final Columns<Row> INPUTS = Columns.<Row>of()
            .bigint("key", Row::key)
            .bytes("input", row -> row.member().run.input().bytes());

    private final List<RunToStart> births = new ArrayList<>();
    private @Nullable Instant at;

    private record RunToStart(int index, LocalDag dag) {}

    /** Whether it only starts a run with tasks that no other run knows, for a worker that takes the tasks. */
    public static boolean isOne(Change.Start start) {
        NewRun run = start.run();
        return start.owner() != null
                && !start.tasks().isEmpty()
                && start.mails().isEmpty()
                && run.delay() == null
                && run.parent() == null
                && run.description().attributes().isEmpty()
                && run.object() == null;
    }

    public void add(int index, Change.Start start, Keys keys) {
        long key = Keys.key(keys.take(), start.run());
        long[] ofTasks = keys.take(start.tasks().size());
        births.add(new RunToStart(index, new LocalDag(key, start.run(), start.tasks(), ofTasks)));
    }

    public boolean isEmpty() {
        return births.isEmpty();
    }

    public Part part(LocalDagSql sql, Sending sending) {
        boolean plain = births.stream()
                .flatMap(birth -> Stream.concat(Stream.of(birth.dag().head), birth.dag().tasks.stream()))
                .allMatch(member -> RunColumns.isPlain(member.run));
        return Part.timed(
                plain ? sql.startPlain : sql.start,
                parameters -> bind(plain ? PLAIN : COLUMNS, sending.fence(parameters)),
                done -> at = done);
    }

    /** Ordered by id, so that two batches with the same ids do not wait for each other. */
    private void bind(Columns<Row> columns, Parameters parameters) throws SQLException {
        List<Member> all = new ArrayList<>();
        for (RunToStart birth : births) {
            all.add(birth.dag().head);
            all.addAll(birth.dag().tasks);
        }
        all.sort(Comparator.comparing(member -> member.run.id()));
        List<Long> edges = new ArrayList<>();
        List<Row> rows = new ArrayList<>(all.size());
        for (Member member : all) {
            int from = edges.size();
            member.after.forEach(premise -> edges.add(premise.ref.key()));
            int to = edges.size();
            member.before.forEach(next -> edges.add(next.ref.key()));
            rows.add(new Row(member, from + 1, to, edges.size()));
        }
        columns.bind(parameters.longs(edges.stream().mapToLong(Long::longValue).toArray()), rows);
        INPUTS.bind(parameters, rows.stream().filter(Row::hasInput).toList());
        parameters.longs(rows.stream()
                .filter(row -> row.begins() == 1)
                .mapToLong(Row::key)
                .toArray());
    }

    private static @Nullable Duration shorter(NewRun one, NewRun other) {
        Duration ones = one.timeout();
        Duration others = other.timeout();
        return ones == null || (others != null && others.compareTo(ones) < 0) ? others : ones;
    }

    public void started(Outcome[] outcomes, LocalDags localDags) {
        for (RunToStart birth : births) {
            if (at == null) {
                outcomes[birth.index()] = new Outcome.Fenced();
            } else {
                LocalDag dag = birth.dag();
                localDags.born(dag, at);
                outcomes[birth.index()] = new Outcome.Started(dag.head.ref, false, at, NewTasks.held(dag, at));
            }
        }
    }
}
