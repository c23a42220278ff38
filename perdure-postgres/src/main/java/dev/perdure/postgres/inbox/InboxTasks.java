package dev.perdure.postgres.inbox;

import dev.perdure.Definition;
import dev.perdure.RunId;
import dev.perdure.attribute.Description;
import dev.perdure.postgres.jdbc.Columns;
import dev.perdure.postgres.jdbc.Micros;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Task;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The tasks of starts that wait in the inbox.
 *
 * @param all the tasks, each with its start and its index there
 */
public record InboxTasks(List<Placed> all) {
    /**
     * A task on its way into the inbox.
     *
     * @param part the run that it belongs to
     * @param place its index among the tasks of that run
     * @param task the task
     */
    record Placed(NewRun part, int place, Task task) {
        @Nullable
        Payload ownInput() {
            Payload input = task.run().input();
            return input.equals(part.input()) ? null : input;
        }
    }

    /** Tasks have no attributes. */
    static final Columns<Placed> COLUMNS = Columns.<Placed>of()
            .text("run", placed -> placed.part().id().value())
            .bigint("run_seed", placed -> placed.part().seed())
            .bigint("seed", placed -> placed.task().run().seed())
            .bigintOrNull(
                    "timeout", placed -> Micros.ofNullable(placed.task().run().timeout()))
            .integer("place", Placed::place)
            .integer("priority", placed -> placed.task().run().priority())
            .integer("weight", placed -> placed.task().run().admission().weight())
            .text("id", placed -> placed.task().run().id().value())
            .text("definition", placed -> placed.task().run().definition())
            .text("queue", placed -> placed.task().run().queue())
            .text("version", placed -> placed.task().run().version())
            .text("after", InboxTasks::places)
            .bytes(
                    "input",
                    placed ->
                            placed.ownInput() == null ? null : placed.ownInput().bytes());

    public static InboxTasks of(List<Change> changes) {
        List<Placed> placed = new ArrayList<>();
        for (Change change : changes) {
            if (change instanceof Change.Start start) {
                for (int i = 0; i < start.tasks().size(); i++) {
                    placed.add(new Placed(start.run(), i, start.tasks().get(i)));
                }
            }
        }
        return new InboxTasks(placed);
    }

    public boolean isEmpty() {
        return all.isEmpty();
    }

    public void bind(Parameters parameters) throws SQLException {
        if (isEmpty()) {
            return;
        }
        COLUMNS.bind(parameters, all);
    }

    private static String places(Placed placed) {
        return placed.task().after().stream().map(String::valueOf).collect(Collectors.joining(",", "{", "}"));
    }

    /**
     * Reads the tasks of starts, by the numbers of the starts.
     *
     * @param refused what is wrong with starts one of whose tasks cannot be started
     */
    static Map<Long, List<Task>> read(ResultSet rows, Map<Long, NewRun> parts, Map<Long, String> refused)
            throws SQLException {
        Map<Long, List<Task>> tasks = new HashMap<>();
        while (rows.next()) {
            long number = rows.getLong("number");
            NewRun part = parts.get(number);
            if (part != null) {
                try {
                    tasks.computeIfAbsent(number, none -> new ArrayList<>()).add(task(rows, part));
                } catch (RuntimeException senseless) {
                    refused.put(number, String.valueOf(senseless.getMessage()));
                }
            }
        }
        return tasks;
    }

    private static Task task(ResultSet row, NewRun part) throws SQLException {
        byte @Nullable [] input = row.getBytes("input");
        Definition.checkName(row.getString("definition"));
        Integer weight = row.getObject("weight", Integer.class);
        NewRun run = new NewRun(
                        RunId.of(row.getString("id")),
                        row.getString("definition"),
                        input == null ? part.input() : new Payload(input),
                        row.getLong("seed"),
                        row.getString("queue"),
                        row.getInt("priority"),
                        row.getString("version"),
                        Micros.durationOrNull(row, "timeout"))
                .describedAs(Description.NONE.withHeaders(part.description().headers()))
                .withQueueKey(part.queueKey())
                .withAdmission(new Admission(null, weight == null ? 1 : weight).at(part.placement()));
        return new Task(run, List.of((Integer[]) row.getArray("after").getArray()));
    }
}
