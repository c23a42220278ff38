package dev.perdure.postgres;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StoreException;
import dev.perdure.postgres.Batch.Placed;
import dev.perdure.postgres.Births.Birth;
import dev.perdure.postgres.Database.LockedException;
import dev.perdure.postgres.Database.RefusedException;
import dev.perdure.postgres.Database.UnforeseenException;
import dev.perdure.spi.Change;
import dev.perdure.spi.Channel;
import dev.perdure.spi.Effect;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Lane;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.Mail;
import dev.perdure.spi.Move;
import dev.perdure.spi.NewRun;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Task;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Applies batches: one round trip and one commit each.
 *
 * <p>How it works: {@link BatchRun} sends what {@link Batch} has sorted and understands the answers; {@link LoneChanges},
 * {@link LoneTalk}, {@link PlainBatch} and {@link FamilyBatch} are short ways for what most batches are. What it finds to
 * have been there before (a retry, an id that is taken) is read back in a second round trip, after the commit: rows of
 * journals and the identity of runs never change, so nothing can come in between. A batch that the server refuses for
 * the sake of one change left nothing behind, so it is sent again in halves until that change is alone.
 */
final class PostgresLedger implements Ledger {
    private final BatchRun.Office office;
    private final ReadBack readBack;
    private final LoneChanges loneChanges;
    private final LoneTalk loneTalk;
    private final Keys keys;
    private final Families families = new Families();
    private final Claims claims;
    /** Whether people start what is started. */
    private final Lately idsAreTaken = new Lately();
    /** Whether objects that are called are free, mostly. */
    private final Hope objectsAreFree = new Hope();
    /** Whether runs that go to wait may do so, mostly. */
    private final Hope nobodyWakes = new Hope();

    private final Workers workers;
    private final ClientFence clientFence;
    private final PostgresHints hints;
    private final Circles circles;

    PostgresLedger(Database database, Schema schema, Keys keys, Workers workers, PostgresHints hints) {
        LedgerSql sql = new LedgerSql(schema);
        this.readBack = new ReadBack(database, sql);
        this.office = new BatchRun.Office(database, sql, readBack, hints, new Lately());
        this.loneChanges = new LoneChanges(database, schema, keys);
        this.loneTalk = new LoneTalk(office, schema);
        this.keys = keys;
        this.claims = new Claims(schema, sql, database);
        this.workers = workers;
        this.clientFence = new ClientFence(workers);
        this.hints = hints;
        this.circles = new Circles(database, schema);
    }

    @Override
    public List<Outcome> apply(Lane lane, List<Change> changes) {
        if (changes.isEmpty()) {
            return List.of();
        }
        if (lane.worker() == null && changes.stream().anyMatch(ClientFence::concerns)) {
            return clientFence.apply(this, changes);
        }
        Integer worker = lane.worker() == null ? null : workers.number(lane.worker());
        if (lane.worker() != null && worker == null) {
            return changes.stream().<Outcome>map(change -> new Outcome.Fenced()).toList();
        }
        List<Change> storable = new ArrayList<>(changes.size());
        @Nullable Outcome[] refused = new Outcome[changes.size()];
        for (int i = 0; i < refused.length; i++) {
            String reason = Batch.unstorable(changes.get(i));
            if (reason == null) {
                storable.add(changes.get(i));
            } else {
                refused[i] = new Outcome.Refused(reason);
            }
        }
        List<Outcome> applied = storable.isEmpty() ? List.of() : sent(worker, lane.number(), storable);
        List<Outcome> outcomes = merged(refused, applied);
        for (int i = 0; i < refused.length; i++) {
            families.saw(changes.get(i), outcomes.get(i));
        }
        tell(changes, outcomes);
        return outcomes;
    }

    private List<Outcome> sent(@Nullable Integer worker, int lane, List<Change> changes) {
        if (worker == null) {
            return halving(new Sender(null, lane), changes);
        }
        int row = workers.lanes().row(worker, lane);
        try {
            return halving(new Sender(worker, row), changes);
        } catch (RuntimeException | Error failure) {
            workers.lanes().failed(worker, lane, failure);
            throw failure;
        }
    }

    private static List<Outcome> merged(@Nullable Outcome[] refused, List<Outcome> applied) {
        List<Outcome> outcomes = new ArrayList<>(refused.length);
        int next = 0;
        for (Outcome outcome : refused) {
            outcomes.add(outcome != null ? outcome : applied.get(next++));
        }
        return outcomes;
    }

    /**
     * Who sends a batch.
     *
     * @param worker the worker's number, or null for a client
     * @param lane the row of its lane: see {@link Lanes}
     */
    record Sender(@Nullable Integer worker, int lane) {}

    private List<Outcome> halving(Sender sender, List<Change> changes) {
        try {
            return changes.size() == 1 ? alone(sender, changes) : together(sender, changes);
        } catch (RefusedException refused) {
            if (changes.size() == 1) {
                return List.of(refusal(changes.getFirst(), refused));
            }
            return halves(sender, changes);
        } catch (LockedException locked) {
            if (changes.size() == 1) {
                throw new StoreException(
                        StoreException.Kind.UNAVAILABLE,
                        "The run of %s is locked by another transaction; waiting for it.".formatted(changes.get(0)),
                        locked);
            }
            return halves(sender, changes);
        }
    }

    private List<Outcome> alone(Sender sender, List<Change> changes) {
        Outcome plain = loneChanges.apply(sender, changes.getFirst());
        if (plain != null) {
            return List.of(plain);
        }
        List<Outcome> ofTasks = ofFamilies(sender, changes);
        if (ofTasks != null) {
            return ofTasks;
        }
        Outcome talk = loneTalk.apply(sender, changes.getFirst());
        if (talk != null) {
            return List.of(talk);
        }
        boolean mayHope = Plain.isCall(changes.getFirst()) || Plain.isWait(changes.getFirst());
        List<Outcome> hopeful = mayHope ? hopefully(sender, changes) : null;
        return hopeful != null ? hopeful : send(sender, new Batch(changes, keys), true);
    }

    /** The outcomes of changes that concern only tasks of families that are known, or null: then nothing was done. */
    private @Nullable List<Outcome> ofFamilies(Sender sender, List<Change> changes) {
        Integer worker = sender.worker();
        Predicate<NewRun> skills = worker == null ? null : workers.skills(worker);
        if (worker == null || skills == null) {
            return null;
        }
        FamilyBatch batch = FamilyBatch.of(sender, changes, keys, families, skills);
        if (batch == null || (batch.startsAny() && idsAreTaken.isSo())) {
            return null;
        }
        try {
            Database database = office.database();
            database.call(connection -> batch.send(connection, office.sql(), database.time()));
        } catch (UnforeseenException vain) {
            changes.forEach(families::doubt);
            return null;
        }
        if (batch.queued()) {
            hints.tell(new Hints.WorkReady());
        }
        return batch.outcomes(families, unknown -> claims.read(unknown, worker));
    }

    private List<Outcome> together(Sender sender, List<Change> changes) {
        List<Outcome> hopeful = hopefully(sender, changes);
        List<Outcome> outcomes = hopeful != null ? hopeful : ofFamilies(sender, changes);
        return outcomes != null ? outcomes : carefully(sender, changes);
    }

    /** What comes of them by the short way of {@link PlainBatch}, or null if they are not plain, or not likely to be so lucky. */
    private @Nullable List<Outcome> hopefully(Sender sender, List<Change> changes) {
        PlainBatch plain = PlainBatch.of(sender, changes, keys);
        if (plain == null || (plain.startsAny() && idsAreTaken.isSo())) {
            return null;
        }
        if (plain.calls() > 0 && (plain.waitsAny() || !objectsAreFree.isWorthwhile())) {
            return null; // both lock runs, and that is done in one pass
        }
        if (plain.waitsAny() && !nobodyWakes.isWorthwhile()) {
            return null;
        }
        List<Outcome> outcomes;
        try {
            outcomes = office.database()
                    .call(connection -> plain.send(
                            connection, office.sql(), office.database().time()));
        } catch (UnforeseenException vain) {
            if (plain.waitsAny()) {
                nobodyWakes.was(false);
            }
            return send(sender, new Batch(changes, keys), true);
        }
        if (plain.waitsAny()) {
            nobodyWakes.was(true);
        }
        List<Integer> unlucky = plain.unlucky();
        if (plain.calls() > 0) {
            objectsAreFree.was(2 * unlucky.size() <= plain.calls());
        }
        if (unlucky.isEmpty()) {
            return outcomes;
        }
        List<Outcome> settled = new ArrayList<>(outcomes);
        List<Outcome> second =
                carefully(sender, unlucky.stream().map(changes::get).toList());
        for (int i = 0; i < second.size(); i++) {
            settled.set(unlucky.get(i), second.get(i));
        }
        return settled;
    }

    private List<Outcome> carefully(Sender sender, List<Change> changes) {
        Batch batch = new Batch(changes, keys);
        try {
            return send(sender, batch, false);
        } catch (UnforeseenException thereBefore) {
            return send(sender, batch, true);
        }
    }

    private List<Outcome> send(Sender sender, Batch batch, boolean careful) {
        BatchRun run = new BatchRun(office, sender, batch, careful);
        List<Outcome> outcomes = run.outcomes();
        if (batch.starts()) {
            idsAreTaken.was(run.foundTaken());
            batch.births.all.forEach(birth -> meet(batch, birth, outcomes));
        }
        breakCircles(run.waiting());
        return outcomes;
    }

    /** A family is known that was started for a worker here. */
    private void meet(Batch batch, Birth birth, List<Outcome> outcomes) {
        Family family = batch.tasks.family(birth.key());
        if (family != null
                && birth.asked() != null
                && outcomes.get(birth.asked().index()) instanceof Outcome.Started started
                && started.run().equals(family.head.ref)
                && !started.handed().isEmpty()) {
            families.born(family);
        }
    }

    private Outcome refusal(Change change, RefusedException refused) {
        RunId taken = readBack.taken(tasksOf(change));
        return taken != null
                ? Outcome.Refused.taskIdTaken(taken)
                : new Outcome.Refused("PostgreSQL does not store it: " + refused.getMessage());
    }

    private static List<Task> tasksOf(Change change) {
        return switch (change) {
            case Change.Start start -> start.tasks();
            case Change.Advance advance ->
                advance.effects().stream()
                        .flatMap(effect ->
                                effect instanceof Effect.Start start ? start.tasks().stream() : Stream.empty())
                        .toList();
            default -> List.of();
        };
    }

    /** Refuses calls that would wait for each other for ever. */
    private void breakCircles(List<Long> waiting) {
        for (long call : waiting) {
            circles.breaking(call).ifPresent(refusal -> apply(Lane.client(0), List.of(refusal)));
        }
    }

    /** The same for calls whose own batch was not followed by that look. */
    void breakOldCircles() {
        breakCircles(circles.longWaiting());
    }

    private List<Outcome> halves(Sender sender, List<Change> changes) {
        int middle = changes.size() / 2;
        List<Outcome> outcomes = new ArrayList<>(changes.size());
        StoreException locked = null;
        for (List<Change> half : List.of(changes.subList(0, middle), changes.subList(middle, changes.size()))) {
            try {
                outcomes.addAll(halving(sender, half));
            } catch (StoreException e) {
                if (Database.isUnanswered(e)) {
                    throw e; // with this lane nothing goes on before it is replaced
                }
                // The other half shall not wait for a lock in this one; sent again, it finds itself applied.
                locked = e;
            }
        }
        if (locked != null) {
            throw locked;
        }
        return outcomes;
    }

    private void tell(List<Change> changes, List<Outcome> outcomes) {
        for (int i = 0; i < outcomes.size(); i++) {
            Change change = changes.get(i);
            if (outcomes.get(i) instanceof Outcome.Applied || outcomes.get(i) instanceof Outcome.Woken) {
                showing(change).forEach(run -> hints.tell(new Hints.RunShows(run)));
            }
            if (change instanceof Change.Deliver || change instanceof Change.Whole) {
                // Whom it lets go on the batch itself knows best; of a call that was not there before nobody knows.
                continue;
            }
            switch (outcomes.get(i)) {
                case Outcome.Started started
                when !started.owned() && started.handed().isEmpty() && !waits(change) ->
                    hints.tell(new Hints.WorkReady());
                case Outcome.Applied applied -> tell(change, applied.state());
                case Outcome.Commanded commanded -> tell(change, commanded.state());
                default -> {}
            }
        }
    }

    /** Those that show something new by this change. */
    private static Stream<RunId> showing(Change change) {
        return switch (change) {
            case Change.Deliver deliver -> settled(deliver.to(), deliver.mail());
            case Change.Advance advance when advance.effects().isEmpty() -> Stream.empty();
            case Change.Advance advance ->
                advance.effects().stream()
                        .flatMap(effect -> switch (effect) {
                            case Effect.Publish publish ->
                                Stream.of(advance.run().id());
                            case Effect.Deliver deliver -> settled(deliver.to(), deliver.mail());
                            default -> Stream.empty();
                        })
                        .distinct();
            default -> Stream.empty();
        };
    }

    private static Stream<RunId> settled(RunId run, Mail mail) {
        return mail.channel().kind() == Channel.Kind.PROMISE ? Stream.of(run) : Stream.empty();
    }

    /** One that was to be born running, and is not, waits for its turn. */
    private static boolean waits(Change change) {
        return change instanceof Change.Start start
                && start.owner() != null
                && start.run().object() != null;
    }

    private void tell(Change change, RunState state) {
        if (change instanceof Change.Advance advance && advance.move() instanceof Move.Wait) {
            // Whoever made it wait looks at the timers in time; nobody else has to.
            hints.tellHere(new Hints.WorkReady());
        } else if (state == RunState.READY) {
            hints.tell(new Hints.WorkReady());
        } else if (state.isTerminal()) {
            hints.tell(new Hints.RunEnded(id(change)));
        }
    }

    private static RunId id(Change change) {
        return switch (change) {
            case Change.Start start -> start.run().id();
            case Change.Advance advance -> advance.run().id();
            case Change.Whole whole -> whole.run().id();
            case Change.Command command -> command.run();
            case Change.Rerun rerun -> rerun.run();
            case Change.Deliver deliver -> deliver.to();
        };
    }

    static Outcome[] none(int size) {
        Outcome[] outcomes = new Outcome[size];
        Arrays.fill(outcomes, new Outcome.UnknownRun());
        return outcomes;
    }

    static <C extends Change> void fence(List<Placed<C>> placed, Outcome[] outcomes) {
        placed.forEach(change -> outcomes[change.index()] = new Outcome.Fenced());
    }
}
