package dev.perdure.memory;

import dev.perdure.RunState;
import dev.perdure.attribute.Description;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Mailboxes.Published;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Runs.Entered;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Origin;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Premise;
import dev.perdure.spi.change.Recorded;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** A run with its journal and its events. Only the holder of the lock of {@link Tables} reads and writes it. */
final class Row {
    /** The identity of an entry. */
    record Place(int position, int note) implements Comparable<Place> {
        private static final Comparator<Place> ORDER =
                Comparator.comparingInt(Place::position).thenComparingInt(Place::note);

        static Place of(Entry entry) {
            return new Place(entry.position(), entry.note());
        }

        @Override
        public int compareTo(Place other) {
            return ORDER.compare(this, other);
        }
    }

    final RunRef ref;
    NewRun start;
    final Instant createdAt;
    final NavigableMap<Place, Recorded> journal = new TreeMap<>();

    /** What it had recorded in the lives that an operator let begin anew, without payloads. */
    final List<Journals.Timed> former = new ArrayList<>();

    final List<Entered> entered = new ArrayList<>();

    /** How many states after the first one are no longer in the list. */
    int forgottenStates;

    final Mailbox mailbox = new Mailbox();
    final List<Output> published = new ArrayList<>();
    /** What its steps log. */
    final MemoryReports.Lines lines = new MemoryReports.Lines();
    /** What its steps report, by position. */
    final NavigableMap<Integer, MemoryReports.Kept> reports = new TreeMap<>();

    RunState state = RunState.READY;

    @Nullable
    String reason;

    Instant changedAt;

    /** How many states it has left. */
    int changes;

    Description description;

    @Nullable
    WorkerId owner;

    long epoch;
    int recoveries;
    int entriesAtRecovery;
    Control control = Control.NONE;

    @Nullable
    Instant wakeAt;

    /** When it expires, if it has not begun by then. */
    @Nullable
    Instant startBy;

    /** The deduplication key that it has until it has ended. */
    @Nullable
    String startKey;

    /** The run that it replaces, if it has to wait for the end of that run. */
    @Nullable
    Row replaces;

    Set<Channel> awaited = Set.of();
    int needed;
    Set<String> limiters = Set.of();
    int restarts;

    long readySince;

    /** Its rank among the ready runs; the lowest comes first. */
    int rank;

    /** Its number among the calls that had to wait for its virtual object. */
    long turn;

    /** Whether it holds a place in its queue, as long as its state counts. */
    boolean placed;

    @Nullable
    Payload outcome;

    /** Whether only its id, input and outcome are left, because its retention is over. */
    boolean stripped;

    /** The tasks that were started with it, in the order of its start. */
    List<Row> tasks = List.of();

    /** The runs that it comes after, and the runs that come after it. */
    List<Row> premises = List.of();

    final List<Row> dependents = new ArrayList<>();

    /** How many of its premises have not ended. */
    int open;

    /** The time from which its timeout counts. */
    Instant begins;

    /** The deadline of the run with which it was started. Its own deadline is not later. */
    @Nullable
    Instant bound;

    Row(RunRef ref, NewRun start, Instant createdAt) {
        this.ref = ref;
        this.start = start;
        this.createdAt = createdAt;
        this.changedAt = createdAt;
        this.begins = createdAt;
        this.description = start.description();
    }

    /** Keeps what the run has recorded, for its history: another life begins. */
    void keepLife() {
        journal.values()
                .forEach(recorded -> former.add(new Journals.Timed(
                        new Recorded(recorded.entry().with(Payload.EMPTY), recorded.at()),
                        failedAttempts(recorded.entry()))));
    }

    /** How many failed attempts are at the position of an entry. */
    int failedAttempts(Entry entry) {
        return (int) journal
                .subMap(new Place(entry.position(), Entry.ANSWER), new Place(entry.position() + 1, Entry.ANSWER))
                .values()
                .stream()
                .map(Recorded::entry)
                .filter(other -> other.status() == Entry.Status.ATTEMPT && other.kind() == entry.kind())
                .count();
    }

    @Nullable
    Instant deadline() {
        if (start.timeout() == null) {
            return bound;
        }
        Instant own = begins.plus(start.timeout());
        return bound == null || own.isBefore(bound) ? own : bound;
    }

    /** How often it was recovered since its journal last grew. */
    int recoveriesWithoutProgress() {
        return journal.size() > entriesAtRecovery ? 0 : recoveries;
    }

    /** The run as its worker gets it. */
    Claimed claimed() {
        return claimed(epoch, control);
    }

    /** The run as a worker would get it, if it were next. */
    Claimed claimedNext() {
        return claimed(epoch + 1, new Control(0, control.mails(), control.cancel(), control.kill(), control.pause()));
    }

    private Claimed claimed(long underEpoch, Control asked) {
        return new Claimed(
                ref,
                underEpoch,
                start.definition(),
                start.input(),
                start.seed(),
                asked,
                deadline(),
                recoveriesWithoutProgress(),
                premises.stream().map(Row::asPremise).toList(),
                start.object(),
                Origin.of(start, createdAt));
    }

    private Premise asPremise() {
        return new Premise(
                ref, state, Objects.requireNonNullElse(outcome, Payload.EMPTY), Objects.requireNonNullElse(reason, ""));
    }

    /** Begins in this worker's memory. */
    void born(WorkerId worker) {
        state = RunState.RUNNING;
        owner = worker;
        epoch = Outcome.Started.FIRST_EPOCH;
    }

    /**
     * Whether nothing of it has run, so that a cancel ends it at once. False for a run with tasks, which passes the
     * cancel on to them, and for a task that comes after tasks that have not ended.
     */
    boolean hasNothingToSay() {
        return epoch == 0 && tasks.isEmpty() && open == 0;
    }

    /** Whether the run that it replaces has not ended. */
    boolean waitsForReplaced() {
        return replaces != null && !replaces.state.isTerminal();
    }

    /** Whether anything of it has run: the run itself, or one of its tasks. */
    boolean hasBegun() {
        return epoch > 0 || tasks.stream().anyMatch(task -> task.epoch > 0);
    }

    /** Whether it itself has never run. A fork has the second epoch from the start, because it has a journal. */
    boolean isNew() {
        return epoch == 0 || (epoch == Outcome.Started.FIRST_EPOCH && changes == 0);
    }

    /** What a worker sends that held it before is refused. A run that has never run stays so: no worker has held it. */
    void fence() {
        epoch += epoch > 0 ? 1 : 0;
    }

    /**
     * Whether it only waits for others, as a run with tasks and a task for each item do: it takes no place in its queue
     * and nothing of its rate, because the others may need them.
     */
    boolean takesNoPlace() {
        return weight() == Admission.NOTHING;
    }

    /** Whether it was asked to cancel: then it goes before all others, and needs no place in its queue. */
    boolean isCancelled() {
        return control.cancel() != null;
    }

    /** How many units of the rate of its queue it takes when it begins. */
    int weight() {
        return tasks.isEmpty() ? start.admission().weight() : Admission.NOTHING;
    }

    boolean isTask() {
        return !dependents.isEmpty();
    }

    /** A value that the run has published. */
    record Output(String name, Published value) {
        Output with(Payload payload) {
            return new Output(name, new Published(value.offset(), value.at(), payload));
        }
    }

    /** Replaces the requests for the run. */
    void ask(UnaryOperator<Control> change) {
        control = change.apply(control);
    }

    boolean isHeldBy(@Nullable WorkerId worker, long underEpoch) {
        return state == RunState.RUNNING && epoch == underEpoch && owner != null && owner.equals(worker);
    }
}
