package dev.perdure.postgres.write.change;

import dev.perdure.postgres.jdbc.Columns;
import dev.perdure.postgres.jdbc.Micros;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.write.change.LocalDag.Member;
import dev.perdure.postgres.write.change.NewRuns.RunToStart;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Origin;
import dev.perdure.spi.change.RunRef;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The tasks that start with the runs of a batch. */
public final class NewTasks {
    /** By the key of the run that they belong to. */
    private final Map<Long, Unborn> byParent = new LinkedHashMap<>();

    /**
     * @param owned whether the worker of the batch gets the tasks that begin at once
     */
    private record Unborn(LocalDag dag, boolean owned) {}

    /**
     * @param owner the worker that gets it if it begins at once, or null
     */
    record Row(Member task, @Nullable Integer owner) {
        NewRun head() {
            return task.dag.head.run;
        }
    }

    public static final Columns<Row> COLUMNS = Columns.<Row>of()
            .bigint("key", row -> row.task().ref.key())
            .with(RunColumns.TIMED.in(row -> row.task().run))
            .integerOrNull("owner", Row::owner)
            .bytes("input", row -> row.task().ownInput())
            .bigint("parent", row -> row.task().dag.head.ref.key())
            .bigintOrNull("bound", row -> Micros.ofNullable(row.head().timeout()))
            .bigintOrNull("delay", row -> Micros.ofNullable(row.head().delay()))
            .text("after", row -> keys(row.task().after))
            .text("before", row -> keys(row.task().before));

    public boolean isEmpty() {
        return byParent.isEmpty();
    }

    /**
     * Adds the tasks of a run.
     *
     * @param numbers one number per task, in ascending order
     * @return the keys of the tasks that the run itself comes after
     */
    List<Long> add(RunToStart birth, long[] numbers) {
        LocalDag dag = new LocalDag(birth.key(), birth.run(), birth.tasks(), numbers);
        byParent.put(birth.key(), new Unborn(dag, birth.ownsTasks()));
        return dag.head.after.stream().map(leaf -> leaf.ref.key()).toList();
    }

    /** The tasks of a run that the worker that started it now holds. */
    public List<Claimed> held(long parent, Instant at) {
        Unborn unborn = byParent.get(parent);
        return unborn == null || !unborn.owned() ? List.of() : held(unborn.dag(), at);
    }

    /** The tasks of a run that begin at once. */
    public static List<Claimed> held(LocalDag dag, Instant at) {
        return dag.tasks.stream()
                .filter(Member::begins)
                .map(task -> born(task.ref, task.run, dag.head.run, at))
                .toList();
    }

    /** The run with this key and its tasks. */
    @Nullable
    public LocalDag dag(long parent) {
        Unborn unborn = byParent.get(parent);
        return unborn == null ? null : unborn.dag();
    }

    /** A task that its worker has held since its start. */
    public static Claimed born(RunRef ref, NewRun run, NewRun part, Instant at) {
        return new Claimed(
                ref,
                Outcome.Started.FIRST_EPOCH,
                run.definition(),
                run.input(),
                run.seed(),
                Control.NONE,
                earlier(after(at, run.timeout()), after(at, part.timeout())),
                0,
                List.of(),
                run.object(),
                Origin.of(run, at));
    }

    /** Computed as the server does it, so that a task has exactly the deadline of its run. */
    private static @Nullable Instant after(Instant at, @Nullable Duration timeout) {
        return timeout == null ? null : at.plus(Micros.of(timeout), ChronoUnit.MICROS);
    }

    private static @Nullable Instant earlier(@Nullable Instant one, @Nullable Instant other) {
        return one == null || (other != null && other.isBefore(one)) ? other : one;
    }

    /** Ordered by id, so that two batches with the same ids do not wait for each other. */
    public void bind(Parameters parameters, @Nullable Integer worker) throws SQLException {
        List<Row> rows = byParent.values().stream()
                .flatMap(unborn ->
                        unborn.dag().tasks.stream().map(task -> new Row(task, unborn.owned() ? worker : null)))
                .sorted(Comparator.comparing(row -> row.task().run.id()))
                .toList();
        COLUMNS.bind(parameters, rows);
    }

    private static String keys(List<Member> members) {
        return array(members.stream().map(member -> member.ref.key()));
    }

    /** In PostgreSQL's array syntax, because nested arrays cannot have different lengths. */
    static String array(Stream<Long> keys) {
        return keys.map(String::valueOf).collect(Collectors.joining(",", "{", "}"));
    }
}
