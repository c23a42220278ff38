package dev.perdure.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.audit.AuditEntry.Action;
import dev.perdure.audit.AuditEntry.Subject;
import dev.perdure.audit.Operator;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Dispatch.Poll;
import dev.perdure.spi.Dispatch.Polled;
import dev.perdure.spi.Leases.Joining;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Runs;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.Awaited;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Due;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * What every store does, whatever it is made of. One class per role; a store has a subclass of each, which says how to
 * open it. The time of runs is the test's and stands still unless it is moved; leases go by real time.
 */
public abstract class StoreConformance {
    protected static final Instant BEGINNING = Instant.parse("2026-01-01T00:00:00Z");
    protected static final Duration LONG_LEASE = Duration.ofMinutes(10);
    protected static final String QUEUE = "default";
    protected static final String DEFINITION = "order";
    protected static final Move STAY = new Move.Stay();

    private final AtomicReference<Instant> now = new AtomicReference<>(BEGINNING);
    private @Nullable Store opened;

    /** For subclasses. */
    protected StoreConformance() {}

    /** Opens a store without any runs in it that takes its time from here. */
    protected abstract Store open(Supplier<Instant> time);

    @BeforeEach
    final void openStore() {
        opened = open(now::get);
    }

    @AfterEach
    final void closeStore() {
        store().close();
    }

    protected final Store store() {
        return Objects.requireNonNull(opened);
    }

    protected final Instant now() {
        return now.get();
    }

    protected final void advance(Duration duration) {
        now.updateAndGet(time -> time.plus(duration));
    }

    protected static Payload payload(String text) {
        return new Payload(text.getBytes(StandardCharsets.UTF_8));
    }

    protected static NewRun newRun(String id) {
        return new NewRun(
                RunId.of(id),
                DEFINITION,
                payload("\"input of " + id + "\""),
                ThreadLocalRandom.current().nextLong(),
                QUEUE,
                0,
                null,
                null);
    }

    protected static NewRun withPriority(NewRun run, int priority) {
        return new NewRun(
                run.id(),
                run.definition(),
                run.input(),
                run.seed(),
                run.queue(),
                priority,
                run.version(),
                run.timeout());
    }

    protected static NewRun withDefinition(NewRun run, String definition) {
        return new NewRun(
                run.id(),
                definition,
                run.input(),
                run.seed(),
                run.queue(),
                run.priority(),
                run.version(),
                run.timeout());
    }

    protected static NewRun withQueue(NewRun run, String queue) {
        return new NewRun(
                run.id(),
                run.definition(),
                run.input(),
                run.seed(),
                queue,
                run.priority(),
                run.version(),
                run.timeout());
    }

    protected static NewRun withVersion(NewRun run, String version) {
        return new NewRun(
                run.id(),
                run.definition(),
                run.input(),
                run.seed(),
                run.queue(),
                run.priority(),
                version,
                run.timeout());
    }

    protected static NewRun withInput(NewRun run, Payload input) {
        return new NewRun(
                run.id(),
                run.definition(),
                input,
                run.seed(),
                run.queue(),
                run.priority(),
                run.version(),
                run.timeout());
    }

    protected static NewRun withTimeout(NewRun run, Duration timeout) {
        return new NewRun(
                run.id(),
                run.definition(),
                run.input(),
                run.seed(),
                run.queue(),
                run.priority(),
                run.version(),
                timeout);
    }

    protected static NewRun withDelay(NewRun run, Duration delay) {
        return new NewRun(
                run.id(),
                run.definition(),
                run.input(),
                run.seed(),
                run.queue(),
                run.priority(),
                run.version(),
                run.timeout(),
                delay,
                run.parent());
    }

    /** A run that another run starts with the entry at this position. */
    protected static NewRun child(String id, RunRef parent, int position, boolean answers) {
        NewRun run = newRun(id);
        return new NewRun(
                run.id(),
                run.definition(),
                run.input(),
                run.seed(),
                run.queue(),
                run.priority(),
                run.version(),
                run.timeout(),
                run.delay(),
                new Parent(parent, position, answers));
    }

    protected final WorkerId join() {
        return join(Set.of(DEFINITION), null);
    }

    protected final WorkerId join(Set<String> definitions, @Nullable String version) {
        WorkerId worker = new WorkerId(UUID.randomUUID());
        store().leases().join(new Joining(worker, definitions, version, LONG_LEASE, 4));
        return worker;
    }

    protected final Outcome apply(Lane lane, Change change) {
        return store().ledger().apply(lane, List.of(change)).getFirst();
    }

    protected final Outcome apply(WorkerId worker, Change change) {
        return apply(new Lane(worker, 0), change);
    }

    /** Starts a run that this worker holds from the beginning. */
    protected final RunRef startOwned(WorkerId worker, NewRun run) {
        Outcome outcome = apply(worker, new Change.Start(run, worker));
        assertThat(outcome).isInstanceOf(Outcome.Started.class);
        return ((Outcome.Started) outcome).run();
    }

    protected final RunRef startOwned(WorkerId worker, String id) {
        return startOwned(worker, newRun(id));
    }

    /** Starts a run that is ready for any worker. */
    protected final RunRef startReady(NewRun run) {
        Outcome outcome = apply(Lane.client(0), new Change.Start(run, null));
        assertThat(outcome).isInstanceOf(Outcome.Started.class);
        return ((Outcome.Started) outcome).run();
    }

    protected final RunRef startReady(String id) {
        return startReady(newRun(id));
    }

    protected static Change.Advance advance(RunRef run, long epoch, Move move, Entry... entries) {
        return new Change.Advance(run, epoch, List.of(entries), move);
    }

    protected static Change.Advance advance(RunRef run, long epoch, Move move, List<Effect> effects, Entry... entries) {
        return new Change.Advance(run, epoch, List.of(entries), effects, move);
    }

    protected static Entry step(int position, String value) {
        return new Entry(
                position, Entry.ANSWER, Entry.Kind.STEP, "step" + position, Entry.Status.VALUE, payload(value));
    }

    protected static Move sleep(Duration delay) {
        return new Move.Wait(RunState.SUSPENDED, new Due.In(delay), 0);
    }

    protected static Move complete(String value) {
        return new Move.End(RunState.COMPLETED, payload(value), "");
    }

    protected static Poll poll(WorkerId worker, int limit) {
        return new Poll(worker, Set.of(DEFINITION), Set.of(QUEUE), null, limit, true);
    }

    protected final Polled polled(WorkerId worker, int limit) {
        return store().dispatch().poll(poll(worker, limit));
    }

    protected final List<String> claimedIds(Poll poll) {
        return store().dispatch().poll(poll).claimed().stream()
                .map(claimed -> claimed.run().id().value())
                .toList();
    }

    protected final Claimed claimOne(WorkerId worker) {
        List<Claimed> claimed = polled(worker, 1).claimed();
        assertThat(claimed).hasSize(1);
        return claimed.getFirst();
    }

    protected final Runs.Found found(RunRef run) {
        return store().runs().find(run.id()).orElseThrow();
    }

    /** The run that has the id now. If none has it, one of this moment. */
    protected final Change.Seen seen(String id) {
        return store().runs()
                .find(RunId.of(id))
                .map(Runs.Found::info)
                .map(info -> new Change.Seen(info.createdAt(), info.changedAt()))
                .orElseGet(() -> new Change.Seen(now(), now()));
    }

    /** Kills and deletes the run that has the id, so that another one can get it a second later. */
    protected final void free(String id) {
        apply(Lane.client(0), new Change.Command(RunId.of(id), Change.CommandKind.KILL, "gone"));
        Audit audit = new Audit(UUID.randomUUID(), Operator.named("anna"), Action.DELETE, Subject.RUN, id, 0, "why");
        assertThat(store().removals().delete(RunId.of(id), seen(id), audit)).isInstanceOf(Outcome.Applied.class);
        advance(Duration.ofSeconds(1));
    }

    protected final RunRef refOf(String id) {
        return store().runs().find(RunId.of(id)).orElseThrow().ref();
    }

    protected final RunState stateOf(RunRef run) {
        return found(run).info().state();
    }

    protected final List<String> changesOf(RunRef run) {
        return store().runs().entered(run).stream()
                .map(entered ->
                        entered.reason().isEmpty() ? entered.state().name() : entered.state() + ": " + entered.reason())
                .toList();
    }

    protected final List<Entry> journalOf(RunRef run) {
        return store().journals().read(run, 0, Integer.MAX_VALUE).entries().stream()
                .map(recorded -> recorded.entry())
                .toList();
    }

    /** The outcome of a command that has brought its run into this state. */
    protected final Outcome.Commanded changed(RunState state) {
        return new Outcome.Commanded(now(), state, true, true);
    }

    /** The outcome of a command that waits on the row of a run in this state. */
    protected final Outcome.Commanded left(RunState state) {
        return new Outcome.Commanded(now(), state, false, true);
    }

    /** The outcome of a command that has no effect on a run in this state. */
    protected final Outcome.Commanded unchanged(RunState state) {
        return new Outcome.Commanded(now(), state, false, false);
    }

    protected final Outcome command(RunRef run, Change.CommandKind kind, String reason) {
        return apply(Lane.client(0), new Change.Command(run.id(), kind, reason));
    }

    /** A mail with a token of its own. */
    protected static Mail mail(Channel channel, String value) {
        return Mail.value(channel, UUID.randomUUID(), payload(value));
    }

    /** Sends a mail from outside; an answer to the first life of the run. */
    protected final Outcome deliver(RunRef run, Mail mail) {
        return apply(Lane.client(0), delivery(run, mail));
    }

    /** A mail from outside; an answer to the first life of the run. */
    protected static Change.Deliver delivery(RunRef run, Mail mail) {
        return mail.channel().kind() == Channel.Kind.ANSWER
                ? new Change.Deliver(run.id(), mail, 0)
                : new Change.Deliver(run.id(), mail);
    }

    /** The values of the mail that a run has not taken. */
    protected final List<String> unread(RunRef run) {
        return store().mailboxes().unread(run, 0, Integer.MAX_VALUE).stream()
                .map(arrived -> new String(arrived.mail().payload().bytes(), StandardCharsets.UTF_8))
                .toList();
    }

    /** A wait for mail alone. */
    protected static Move await(int needed, Channel... channels) {
        return new Move.Wait(RunState.SUSPENDED, new Due.Never(), new Awaited(Set.of(channels), needed), 0);
    }
}
