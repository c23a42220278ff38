package dev.perdure.postgres;

import dev.perdure.RunId;
import dev.perdure.postgres.Batch.Placed;
import dev.perdure.spi.Change;
import dev.perdure.spi.Move;
import dev.perdure.spi.NewRun;
import dev.perdure.spi.ObjectKey;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.RunRef;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Calls of virtual objects that begin and end in this batch, behind a run that it ends. */
final class Wholes {
    /** Those of which the batch ends the call before them. */
    final List<Placed<Change.Whole>> all = new ArrayList<>();
    /** What they make of the states of their objects. */
    final BatchObjects states = new BatchObjects();

    private final List<Change.Advance> advances = new ArrayList<>();
    private final List<Integer> trains = new ArrayList<>();
    private final Map<ObjectKey, Change.Advance> ends = new LinkedHashMap<>();

    /**
     * Sorts them by their objects, in their order. One that follows somebody who does not end here is left out, and so fenced.
     *
     * @param ended the ends of runs that the batch makes, by id
     */
    void add(List<Placed<Change.Whole>> given, Map<RunId, Change.Advance> ended, Keys keys) {
        long[] numbers = keys.take(given.size());
        Map<RunId, Integer> trainOf = new HashMap<>();
        for (int i = 0; i < numbers.length; i++) {
            Change.Whole whole = given.get(i).change();
            NewRun run = whole.run();
            Change.Advance end = ended.get(whole.follows());
            if (end != null && ends.putIfAbsent(objectOf(run), end) == null) {
                trainOf.put(whole.follows(), ends.size());
            }
            Integer train = trainOf.remove(whole.follows());
            if (train != null) {
                trainOf.put(run.id(), train);
                trains.add(train);
                all.add(given.get(i));
                RunRef ref = new RunRef(run.id(), Keys.holdersKey(Keys.key(numbers[i], run.id(), false)));
                advances.add(new Change.Advance(
                        ref, Outcome.Started.FIRST_EPOCH, whole.entries(), whole.effects(), whole.end()));
            }
        }
        changeStates();
    }

    private static ObjectKey objectOf(NewRun run) {
        return Objects.requireNonNull(run.object()).object();
    }

    /** All of a train or none: so what they do to the state together goes with the last. */
    private void changeStates() {
        Map<Integer, Change.Advance> last = new HashMap<>();
        for (int i = 0; i < advances.size(); i++) {
            last.put(trains.get(i), advances.get(i));
        }
        for (int i = 0; i < advances.size(); i++) {
            RunRef run = Objects.requireNonNull(last.get(trains.get(i))).run();
            Change.Advance sender = new Change.Advance(run, Outcome.Started.FIRST_EPOCH, List.of(), new Move.Stay());
            advances.get(i).effects().forEach(effect -> states.change(sender, effect));
        }
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    /** For each train its object and the run before it, as that has ended. */
    void bindTrains(Parameters parameters) throws SQLException {
        parameters
                .texts(ends.keySet().stream().map(ObjectKey::type).toArray(String[]::new))
                .texts(ends.keySet().stream().map(ObjectKey::key).toArray(String[]::new))
                .longs(ends.values().stream().mapToLong(end -> end.run().key()).toArray())
                .longs(ends.values().stream().mapToLong(Endings::epoch).toArray());
    }

    /** Who may wait for their objects. Whoever waits for one of these does not wait for another. */
    void bindBeside(Parameters parameters) throws SQLException {
        parameters.texts(all.stream()
                .flatMap(whole -> whole.change().beside().stream())
                .distinct()
                .map(RunId::value)
                .toArray(String[]::new));
    }

    void bind(Parameters parameters) throws SQLException {
        int count = all.size();
        short[] ended = new short[count];
        @Nullable String[] reasons = new String[count];
        String[] types = new String[count];
        String[] objects = new String[count];
        for (int i = 0; i < count; i++) {
            Change.Whole whole = all.get(i).change();
            ended[i] = Codes.of(whole.end().state());
            reasons[i] = Text.storableOrNull(whole.end().reason());
            types[i] = objectOf(whole.run()).type();
            objects[i] = objectOf(whole.run()).key();
        }
        NewRunColumns columns = new NewRunColumns(
                all.stream().map(placed -> placed.change().run()).toList());
        columns.bindIdentity(parameters.longs(
                advances.stream().mapToLong(advance -> advance.run().key()).toArray()));
        columns.bindInput(parameters).shorts(ended).texts(reasons).texts(types).texts(objects);
        parameters.longs(trains.stream().mapToLong(Integer::longValue).toArray());
        new Entries(advances).bind(parameters);
    }

    void read(ResultSet rows, Outcome[] outcomes) throws SQLException {
        Map<Long, Integer> places = new HashMap<>();
        for (int i = 0; i < advances.size(); i++) {
            places.put(advances.get(i).run().key(), i);
        }
        while (rows.next()) {
            Placed<Change.Whole> whole = all.get(Objects.requireNonNull(places.get(rows.getLong("key"))));
            outcomes[whole.index()] = new Outcome.Applied(
                    Results.time(rows, "at"), whole.change().end().state());
        }
    }
}
