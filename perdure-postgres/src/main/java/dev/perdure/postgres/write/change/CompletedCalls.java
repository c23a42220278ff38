package dev.perdure.postgres.write.change;

import dev.perdure.RunId;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Columns;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.Text;
import dev.perdure.postgres.write.change.Batch.Placed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.RunRef;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** Calls of virtual objects that begin and end in this batch, behind a run that the batch ends. */
public final class CompletedCalls {
    /**
     * @param pipeline the number of its pipeline
     */
    record Call(long key, Change.CompletedCall completed, int pipeline) {}

    public static final Columns<Call> CALLS = Columns.<Call>of()
            .bigint("key", Call::key)
            .with(RunColumns.WITH_INPUT.in(call -> call.completed().run()))
            .smallint("state", call -> Codes.of(call.completed().end().state()))
            .text("reason", call -> Text.storableOrNull(call.completed().end().reason()))
            .text("type", call -> objectOf(call.completed().run()).type())
            .text("object", call -> objectOf(call.completed().run()).key())
            .bigint("pipeline", Call::pipeline);

    public static final Columns<Map.Entry<ObjectKey, Change.Advance>> LINES =
            Columns.<Map.Entry<ObjectKey, Change.Advance>>of()
                    .text("type", line -> line.getKey().type())
                    .text("object", line -> line.getKey().key())
                    .bigint("follows", line -> line.getValue().run().key())
                    .bigint("epoch", line -> Endings.epoch(line.getValue()));

    /** The calls whose predecessor the batch ends. */
    final List<Placed<Change.CompletedCall>> all = new ArrayList<>();
    /** Their changes to the states of their objects. */
    public final BatchObjects states = new BatchObjects();

    private final List<Change.Advance> advances = new ArrayList<>();
    private final List<Integer> pipelines = new ArrayList<>();
    private final Map<ObjectKey, Change.Advance> ends = new LinkedHashMap<>();

    /**
     * Groups them by object, in their order. A call whose predecessor does not end in this batch is left out, and so
     * fenced.
     *
     * @param ended the ends of runs that the batch makes, by id
     */
    void add(List<Placed<Change.CompletedCall>> given, Map<RunId, Change.Advance> ended, Keys keys) {
        long[] numbers = keys.take(given.size());
        Map<RunId, Integer> pipelineOf = new HashMap<>();
        for (int i = 0; i < numbers.length; i++) {
            Change.CompletedCall completed = given.get(i).change();
            NewRun run = completed.run();
            Change.Advance end = ended.get(completed.follows());
            if (end != null && ends.putIfAbsent(objectOf(run), end) == null) {
                pipelineOf.put(completed.follows(), ends.size());
            }
            Integer pipeline = pipelineOf.remove(completed.follows());
            if (pipeline != null) {
                pipelineOf.put(run.id(), pipeline);
                pipelines.add(pipeline);
                all.add(given.get(i));
                RunRef ref = new RunRef(run.id(), Keys.holdersKey(Keys.key(numbers[i], run)));
                advances.add(new Change.Advance(
                        ref, Outcome.Started.FIRST_EPOCH, completed.entries(), completed.effects(), completed.end()));
            }
        }
        changeStates();
    }

    private static ObjectKey objectOf(NewRun run) {
        return Objects.requireNonNull(run.object()).object();
    }

    /** The store applies all calls of a pipeline or none, so their merged changes to the state go with the last one. */
    private void changeStates() {
        Map<Integer, Change.Advance> last = new HashMap<>();
        for (int i = 0; i < advances.size(); i++) {
            last.put(pipelines.get(i), advances.get(i));
        }
        for (int i = 0; i < advances.size(); i++) {
            RunRef run = Objects.requireNonNull(last.get(pipelines.get(i))).run();
            Change.Advance sender = new Change.Advance(run, Outcome.Started.FIRST_EPOCH, List.of(), new Move.Stay());
            advances.get(i).effects().forEach(effect -> states.change(sender, effect));
        }
    }

    public boolean isEmpty() {
        return all.isEmpty();
    }

    /** The calls that have attributes. */
    LongStream attributed() {
        return IntStream.range(0, all.size())
                .filter(i ->
                        !all.get(i).change().run().description().attributes().isEmpty())
                .mapToLong(i -> advances.get(i).run().key());
    }

    /** For each pipeline, its object and the run before its calls, with the end of that run. */
    public void bindPipelines(Parameters parameters) throws SQLException {
        LINES.bind(parameters, List.copyOf(ends.entrySet()));
    }

    /** Calls that may wait for their objects. A call waits for one object only. */
    public void bindBeside(Parameters parameters) throws SQLException {
        parameters.texts(all.stream()
                .flatMap(completed -> completed.change().beside().stream())
                .distinct()
                .map(RunId::value)
                .toArray(String[]::new));
    }

    public void bind(Parameters parameters) throws SQLException {
        List<Call> calls = new ArrayList<>(all.size());
        for (int i = 0; i < all.size(); i++) {
            calls.add(new Call(advances.get(i).run().key(), all.get(i).change(), pipelines.get(i)));
        }
        CALLS.bind(parameters, calls);
        new Entries(advances).bind(parameters);
    }

    public void read(ResultSet rows, Outcome[] outcomes) throws SQLException {
        Map<Long, Integer> places = new HashMap<>();
        for (int i = 0; i < advances.size(); i++) {
            places.put(advances.get(i).run().key(), i);
        }
        while (rows.next()) {
            Placed<Change.CompletedCall> completed = all.get(Objects.requireNonNull(places.get(rows.getLong("key"))));
            outcomes[completed.index()] = new Outcome.Applied(
                    Results.time(rows, "at"), completed.change().end().state());
        }
    }
}
