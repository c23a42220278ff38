package dev.perdure.internal.object;

import dev.perdure.RunId;
import dev.perdure.internal.definition.Registered;
import dev.perdure.internal.execution.host.HeldRun;
import dev.perdure.internal.execution.host.KnownState;
import dev.perdure.internal.object.LocalCaller.Reply;
import dev.perdure.internal.time.Waiting;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.RunRef;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Executes the calls of one virtual object one behind another in this worker, so that their ends share commits.
 *
 * <p>How it works. The first call of the pipeline holds the object in the store. When a call has ended in memory, the
 * next call begins from the state that it left, although nothing of that is durable. The next call is one that waits in
 * the store or, if none is known to wait there, one that a caller in this process has just made and that the store does
 * not know yet. A call that has ended becomes the leader if it is the first and no batch is on its way: it commits the
 * ends of all calls from the first on that have ended, in one batch. Calls that end meanwhile go with the next batch.
 * If the call behind the batch is one that the store does not know, its start goes with the batch, so that it holds the
 * object afterwards. So no call waits for a timer or for a call behind it.
 *
 * <p>Invariants. The first call holds the object as soon as it is the first. A call behind it writes only its end, in
 * the batch in which all calls before it end, and its caller gets no result before that commit. The store applies that
 * end only if the call is next. If an end is not applied, or the store names another call as next, the pipeline
 * discards the calls behind: they existed in memory only, the call that is next begins again from the store, and local
 * callers wait again in {@link LocalCallers}. A caller whose call is not taken into the pipeline starts it like any
 * other run. No call is taken in behind a call that does more than read and write the state, because such a call may
 * take long. A call that this process starts outside the pipeline is not committed while a batch with unknown calls is
 * on its way; batches that are sent after its start name it, so that the store does not refuse them because of it
 * ({@link UnseenCalls}).
 */
public final class CallPipeline {
    /** How many calls that wait in the store the pipeline asks for at most. */
    public static final int MAX_CLAIMED = 64;

    private static final int MAX_CALLS = 256;

    private final CallPipelines pipelines;
    private final PipelineHost host;
    private final ObjectKey object;
    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<PipelinedCall> calls = new ArrayDeque<>();
    /** Calls that are known to wait in the store behind the last one here. */
    private final Deque<Claimed> waiting = new ArrayDeque<>();

    private final LocalCallers callers = new LocalCallers();
    private final UnseenCalls unseen = new UnseenCalls();

    private boolean sending;
    /** Whether the batch on its way frees the object, or leaves it to a call outside the pipeline. */
    private boolean leaving;
    /** Whether the last batch ended several calls. */
    private volatile boolean crowded;
    /** Whether calls may wait in the store that are not known here. */
    private boolean moreWait;
    /** Whether the pipeline has, or had, a first call. */
    private boolean begun;

    private boolean over;

    /** @param moreWait whether calls may wait in the store already */
    CallPipeline(CallPipelines pipelines, ObjectKey object, boolean moreWait) {
        this.pipelines = pipelines;
        this.host = pipelines.host();
        this.object = object;
        this.moreWait = moreWait;
    }

    ObjectKey object() {
        return object;
    }

    PipelineHost host() {
        return host;
    }

    /** Calls of this handler may take long: the pipeline takes them in only when the store knows them. */
    void exclude(Registered handler) {
        pipelines.exclude(handler);
    }

    <T extends @Nullable Object> T locked(Supplier<T> work) {
        lock.lock();
        try {
            return work.get();
        } finally {
            lock.unlock();
        }
    }

    // ---- calls that come

    /** Begins with a call that holds the object; false if another call has begun this pipeline. */
    boolean begin(HeldRun holder, Journals.Page journal, List<Claimed> next) {
        PipelinedCall first = new PipelinedCall(this, holder, null);
        boolean mine = locked(() -> {
            if (begun || over) {
                return false;
            }
            begun = true;
            first.holdFromTheBeginning();
            calls.add(first);
            waiting.addAll(next);
            return true;
        });
        if (mine) {
            first.launch(journal);
        }
        return mine;
    }

    /** Executes a call that the store does not know, if possible, and returns what its caller has to do. */
    Reply execute(LocalCaller caller) {
        launchNext(() -> join(caller));
        return caller.await();
    }

    private Optional<PipelinedCall> join(LocalCaller caller) {
        PipelinedCall last = calls.peekLast();
        if (over || (last != null && last.isBlocking())) {
            caller.settle(new Reply.NotStored());
            return Optional.empty();
        }
        callers.add(caller);
        return addNext();
    }

    /**
     * A call is about to be started outside the pipeline. Waits for the batch on its way, because that batch does not
     * name the call.
     */
    void expect(RunId call) {
        Clockwork.Signal signal = host.clockwork().signal();
        boolean waits = locked(() -> unseen.starts(call, sending ? signal : null));
        while (waits) {
            Waiting.forSignal(signal);
            waits = locked(() -> unseen.isDelayed(signal));
        }
    }

    /** The start of that call has returned, and its caller is about to get the answer. */
    void started(RunId call, boolean waits) {
        locked(() -> {
            unseen.started(call, waits);
            return moreWait |= waits;
        });
    }

    /** The start of the call that was to be the first has returned. */
    public void expectNoMore() {
        close(locked(() -> begun ? false : finish()));
    }

    /** The session is over: the pipeline writes nothing more. */
    void abandon() {
        locked(() -> {
            calls.forEach(PipelinedCall::turnCallerAway);
            return finish();
        });
    }

    /** Adds a call under the lock, and launches it after that. The store may hand the call over in between. */
    void launchNext(Supplier<Optional<PipelinedCall>> how) {
        host.acquiring(() -> {
            Optional<PipelinedCall> next = locked(how);
            next.ifPresent(PipelinedCall::launch);
            return next;
        });
    }

    // ---- the calls in the pipeline; under the lock

    /**
     * Adds the next call behind the last one, if the last one has ended and its state is known, and if there is room.
     * Calls that wait in the store go first.
     */
    Optional<PipelinedCall> addNext() {
        PipelinedCall last = calls.peekLast();
        Optional<KnownState> known = last == null ? Optional.empty() : last.knownAfter();
        if (last == null || known.isEmpty() || calls.size() >= MAX_CALLS || host.room() == 0) {
            return Optional.empty();
        }
        if (!waiting.isEmpty()) {
            // A call that the store knows does not follow one that it does not know.
            return last.isUnknown() ? Optional.empty() : Optional.of(add(heldOf(waiting.removeFirst(), known), null));
        }
        LocalCaller caller = moreWait || leaving || unseen.areWaiting() ? null : callers.next();
        return caller == null ? Optional.empty() : Optional.of(add(heldOf(caller, known), caller));
    }

    private PipelinedCall add(HeldRun held, @Nullable LocalCaller caller) {
        PipelinedCall next = new PipelinedCall(this, held, caller);
        unseen.remove(held.run().id());
        calls.add(next);
        return next;
    }

    /** Adds a call that holds the object as the first. */
    private PipelinedCall begin(Claimed holder, Optional<KnownState> known) {
        PipelinedCall first = new PipelinedCall(this, heldOf(holder, known), null);
        unseen.remove(holder.run().id());
        first.hold(holder);
        calls.addFirst(first);
        return first;
    }

    private HeldRun heldOf(Claimed claim, Optional<KnownState> known) {
        return HeldRun.of(claim, host.definition(claim.definition()), known);
    }

    private HeldRun heldOf(LocalCaller caller, Optional<KnownState> known) {
        RunRef unstored = new RunRef(caller.run().id(), pipelines.provisionalKey());
        return HeldRun.of(caller.claim(unstored), caller.definition(), known);
    }

    /**
     * Removes a call that the store did not know when it began. If the call holds the object by now, it begins again as
     * the first.
     */
    Optional<PipelinedCall> replace(PipelinedCall call, Optional<Claimed> holding) {
        calls.remove(call);
        return holding.isPresent() ? Optional.of(begin(holding.get(), Optional.empty())) : addNext();
    }

    /** A call may take long, so waiting callers start their calls themselves. */
    void turnCallersAway() {
        callers.close();
    }

    /** A call has left memory. If it has not ended, no call behind it continues. */
    void left(PipelinedCall call) {
        close(locked(() -> {
            if (call.isSettled() || !calls.contains(call)) {
                return false;
            }
            discard(true);
            return finish();
        }));
    }

    // ---- sending

    /**
     * The changes of one commit.
     *
     * @param calls the calls that end
     * @param next the call behind them, if the batch starts it
     * @param takes how many calls that wait in the store the batch asks for
     * @param waited the calls that this process has started outside the pipeline and that waited in the store
     * @param changes one for each call that ends, and one for the next
     */
    private record Batch(
            List<PipelinedCall> calls,
            Optional<PipelinedCall> next,
            int takes,
            Set<RunId> waited,
            List<Change> changes) {}

    boolean takesLead(PipelinedCall call) {
        boolean takes = !sending && calls.peekFirst() == call;
        sending |= takes;
        return takes;
    }

    void sendEnds() {
        if (crowded) {
            host.clockwork().giveWay(); // Callers that have just got their results call again.
        }
        host.acquiring(this::send);
    }

    private boolean send() {
        Batch batch = locked(this::load);
        List<Outcome> outcomes = Collections.nCopies(batch.changes.size(), new Outcome.Fenced());
        try {
            outcomes = host.commitEnds(batch.changes);
        } finally {
            List<Outcome> all = outcomes;
            locked(() -> settle(batch, all)).ifPresent(PipelinedCall::launch);
            close(locked(() -> over && finish()));
        }
        if (outcomes.stream().anyMatch(Outcome.AlreadyThere.class::isInstance)) {
            host.forgot(); // the lost answer named the runs that were handed over
        }
        return true;
    }

    private Batch load() {
        List<PipelinedCall> ended =
                calls.stream().takeWhile(call -> call.end() != null).toList();
        Set<RunId> outside = unseen.all();
        // A call that waits in the store holds the object next.
        Optional<PipelinedCall> next =
                calls.stream().skip(ended.size()).findFirst().filter(call -> call.isUnknown() && outside.isEmpty());
        leaving = waiting.isEmpty() && (calls.size() == ended.size() || !outside.isEmpty());
        int most = waiting.isEmpty() ? MAX_CLAIMED : 1;
        int takes = Math.min(most, Math.max(host.room(), calls.size() > ended.size() ? 1 : 0));
        List<Change> changes = CallEnds.of(ended, takes, outside);
        next.ifPresent(call -> {
            call.starts(true);
            NewRun run = Objects.requireNonNull(call.caller()).run();
            host.expect(run.id());
            changes.add(new Change.Start(run, host.worker()));
        });
        return new Batch(ended, next, takes, unseen.waiting(), changes);
    }

    /** Gives each call its outcome and finds the next holder. Returns the call that begins now. */
    private Optional<PipelinedCall> settle(Batch batch, List<Outcome> outcomes) {
        sending = false;
        leaving = false;
        crowded = batch.calls.size() > 1;
        unseen.admit();
        Claimed holder = null;
        boolean complete = true;
        for (int i = 0; i < batch.calls.size(); i++) {
            PipelinedCall call = batch.calls.get(i);
            Outcome outcome = outcomes.get(i);
            complete &= CallEnds.isApplied(outcome);
            holder = holder != null && CallEnds.isApplied(outcome) && call.is(holder) ? null : holder;
            if (outcome instanceof Outcome.Applied applied && !applied.handed().isEmpty()) {
                holder = applied.handed().getLast();
                learnWaiting(applied.next());
            }
            calls.remove(call);
            if (outcome instanceof Outcome.Fenced) {
                call.drop().ifPresent(callers::drop);
            } else {
                call.settle(outcome);
            }
        }
        moreWait = !complete || (batch.takes > 1 ? waiting.size() >= batch.takes - 1 : moreWait);
        if (!moreWait) {
            batch.waited.stream()
                    .filter(call ->
                            waiting.stream().noneMatch(claim -> claim.run().id().equals(call)))
                    .forEach(unseen::remove);
        }
        if (batch.next.isPresent()) {
            Claimed started = started(batch.next.get(), outcomes.getLast(), holder);
            holder = holder == null ? started : holder;
        }
        return holder == null
                ? releaseObject()
                : continueWith(holder, complete, batch.calls.getLast().knownAfter());
    }

    /** The batch has started the call behind it. Returns how that holds the object, if it was started as the holder. */
    private @Nullable Claimed started(PipelinedCall next, Outcome outcome, @Nullable Claimed holder) {
        next.starts(false);
        LocalCaller caller = Objects.requireNonNull(next.caller());
        if (!(outcome instanceof Outcome.Started started)) {
            return null;
        }
        if (started.owned()) {
            return caller.claim(started.run());
        }
        if (holder == null || !next.is(holder)) {
            caller.settle(new Reply.Stored(started.run()));
            moreWait = true;
        }
        return null;
    }

    private Optional<PipelinedCall> continueWith(Claimed holder, boolean complete, Optional<KnownState> known) {
        PipelinedCall first = calls.peekFirst();
        if (complete && first != null && first.is(holder)) {
            first.hold(holder);
            if (moreWait || !waiting.isEmpty()) {
                callers.passedOver();
            }
            return addNext();
        }
        boolean warm = complete && first == null;
        if (first != null && first.caller() != null && first.is(holder)) {
            first.caller().settle(new Reply.Stored(holder.run()));
        }
        discard(!warm);
        callers.passedOver();
        waiting.removeIf(claim -> claim.run().equals(holder.run()));
        return Optional.of(begin(holder, warm ? known : Optional.empty()));
    }

    /**
     * No call waits in the store. One of the callers that arrived meanwhile starts its call, and the others wait for
     * that.
     */
    private Optional<PipelinedCall> releaseObject() {
        discard(true);
        begun = false;
        over |= !callers.letOneStart(this);
        return Optional.empty();
    }

    /** Discards the remaining calls: no caller has got a result of them. */
    private void discard(boolean forgetsWaiting) {
        calls.forEach(call -> call.drop().ifPresent(callers::drop));
        calls.clear();
        if (forgetsWaiting) {
            waiting.clear();
        }
    }

    /** Takes over which calls wait in the store, without those that have begun here. */
    private void learnWaiting(List<Claimed> next) {
        if (!next.isEmpty()) {
            waiting.clear();
            next.stream()
                    .filter(claim -> calls.stream().noneMatch(call -> call.is(claim)))
                    .forEach(waiting::add);
        }
    }

    /** The pipeline takes no more calls. */
    private boolean finish() {
        over = true;
        callers.close();
        return true;
    }

    private void close(boolean isOver) {
        if (isOver) {
            pipelines.remove(this);
        }
    }
}
