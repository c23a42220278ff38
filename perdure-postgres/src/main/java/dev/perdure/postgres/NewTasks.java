package dev.perdure.postgres;

import dev.perdure.postgres.Births.Birth;
import dev.perdure.spi.Control;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.NewRun;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.RunRef;
import dev.perdure.spi.Task;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The tasks that the starts of a batch bring with them. */
final class NewTasks {
    /**
     * A task to be started.
     *
     * @param key its key, if it comes to be
     * @param run the run
     * @param owned whether the worker of the batch gets it if it begins at once
     * @param part the run that it is part of
     * @param parent its key
     * @param after the keys of those that it comes after
     * @param before the keys of those that come after it
     */
    private record Unborn(
            long key, NewRun run, boolean owned, NewRun part, long parent, List<Long> after, List<Long> before) {
        /** Its input, if that is not the one of the run that it is part of. */
        byte @Nullable [] ownInput() {
            return run.input().equals(part.input()) ? null : run.input().bytes();
        }

        boolean begins() {
            return after.isEmpty();
        }
    }

    private final Map<Long, List<Unborn>> byParent = new LinkedHashMap<>();

    boolean isEmpty() {
        return byParent.isEmpty();
    }

    /**
     * Adds the tasks of a run.
     *
     * @param numbers as many as there are tasks, in ascending order
     * @return the keys of those that the run itself comes after
     */
    List<Long> add(Birth birth, long[] numbers) {
        long parent = birth.key();
        List<Task> tasks = birth.tasks();
        List<Long> keys = new ArrayList<>();
        List<List<Long>> before = new ArrayList<>();
        for (int i = 0; i < numbers.length; i++) {
            keys.add(Keys.taskKey(numbers[i], tasks.get(i).run().id()));
            before.add(new ArrayList<>());
        }
        for (int i = 0; i < numbers.length; i++) {
            long key = keys.get(i);
            tasks.get(i).after().forEach(premise -> before.get(premise).add(key));
        }
        List<Long> leaves = new ArrayList<>();
        List<Unborn> born = new ArrayList<>();
        for (int i = 0; i < numbers.length; i++) {
            if (before.get(i).isEmpty()) {
                leaves.add(keys.get(i));
                before.get(i).add(parent);
            }
            List<Long> after = tasks.get(i).after().stream().map(keys::get).toList();
            born.add(new Unborn(
                    keys.get(i), tasks.get(i).run(), birth.ownsTasks(), birth.run(), parent, after, before.get(i)));
        }
        byParent.put(parent, born);
        return leaves;
    }

    /** What the worker that started a run now holds of its tasks. */
    List<Claimed> held(long parent, Instant at) {
        return byParent.getOrDefault(parent, List.of()).stream()
                .filter(task -> task.owned() && task.begins())
                .map(task -> born(new RunRef(task.run().id(), task.key()), task.run(), task.part(), at))
                .toList();
    }

    /** A task that its worker has held since it was born. */
    static Claimed born(RunRef ref, NewRun run, NewRun part, Instant at) {
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
                run.object());
    }

    /** As the server counts, so that a task has the very deadline that its run has. */
    private static @Nullable Instant after(Instant at, @Nullable Duration timeout) {
        return timeout == null ? null : at.plus(Micros.of(timeout), ChronoUnit.MICROS);
    }

    private static @Nullable Instant earlier(@Nullable Instant one, @Nullable Instant other) {
        return one == null || (other != null && other.isBefore(one)) ? other : one;
    }

    /** By id, so that two batches that want the same do not wait for each other. */
    void bind(Parameters parameters, @Nullable Integer worker) throws SQLException {
        List<Unborn> all = byParent.values().stream()
                .flatMap(List::stream)
                .sorted(Comparator.comparing(task -> task.run().id()))
                .toList();
        int count = all.size();
        @Nullable Integer[] owners = new Integer[count];
        long[] keys = new long[count];
        long[] parents = new long[count];
        @Nullable Long[] bounds = new Long[count];
        @Nullable Long[] delays = new Long[count];
        String[] after = new String[count];
        String[] before = new String[count];
        for (int i = 0; i < count; i++) {
            Unborn task = all.get(i);
            keys[i] = task.key();
            owners[i] = task.owned() ? worker : null;
            parents[i] = task.parent();
            bounds[i] = Micros.ofNullable(task.part().timeout());
            delays[i] = Micros.ofNullable(task.part().delay());
            after[i] = array(task.after());
            before[i] = array(task.before());
        }
        NewRunColumns columns = new NewRunColumns(all.stream().map(Unborn::run).toList());
        columns.bindIdentity(parameters.longs(keys));
        parameters
                .ints(owners)
                .bytes(all.stream().map(Unborn::ownInput).toArray(byte[][]::new))
                .longs(parents)
                .longs(bounds)
                .longs(delays);
        parameters.texts(after).texts(before);
    }

    /** As PostgreSQL writes an array: nested arrays cannot be of different lengths. */
    static String array(List<Long> keys) {
        return keys.stream().map(String::valueOf).collect(Collectors.joining(",", "{", "}"));
    }
}
