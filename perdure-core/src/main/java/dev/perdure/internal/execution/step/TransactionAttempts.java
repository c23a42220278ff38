package dev.perdure.internal.execution.step;

import dev.perdure.error.RecordedException;
import dev.perdure.error.StoreException;
import dev.perdure.internal.commit.Backoff;
import dev.perdure.internal.execution.host.HeldRun;
import dev.perdure.internal.execution.host.Host;
import dev.perdure.internal.execution.replay.ContextCall;
import dev.perdure.internal.execution.transition.Transitions;
import dev.perdure.internal.execution.value.Values;
import dev.perdure.internal.time.Waiting;
import dev.perdure.spi.Transacted;
import dev.perdure.spi.TransactionTicket;
import dev.perdure.spi.Transactor;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.report.EngineLog;
import dev.perdure.transaction.TransactionBody;
import dev.perdure.transaction.TransactionOptions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Makes the attempts of one transaction step. It passes the body, with the entry that will record its result, to the
 * database, and interprets the outcome of the transaction.
 *
 * <p>Crash points, in order. Before and in the body: the database rolls the transaction back, and the body runs again.
 * After the body and before the commit: the same. After the commit and before its acknowledgement: the entry is in the
 * journal, or recorded beside the application's data, and the body never runs again. If only the connection is lost,
 * the engine asks the database for the outcome of the transaction until it gets an answer.
 */
final class TransactionAttempts<C> implements Steps.Doing {
    private static final Logger LOG = EngineLog.of("dev.perdure.run");

    /** About four seconds after the first. */
    private static final int TOLD_AT_WAIT = 10;

    /** An attempt that lost conflicts with other transactions this often counts as failed. */
    private static final int MOST_RERUNS = 50;

    private static final long SHORTEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(2);
    private static final int MOST_DOUBLINGS = 6;

    private final ContextCall call;
    private final Host host;
    private final Transitions transitions;
    private final Transactor<C> source;
    private final TransactionTicket ticket;
    private final TransactionBody<C, ? extends @Nullable Object> body;
    private final Backoff trouble;
    private int reruns;
    private int waits;

    TransactionAttempts(
            ContextCall call,
            HeldRun held,
            Host host,
            Transitions transitions,
            Transactor<C> source,
            TransactionBody<C, ? extends @Nullable Object> body,
            TransactionOptions options) {
        this.call = call;
        this.host = host;
        this.transitions = transitions;
        this.source = source;
        this.body = body;
        this.ticket = new TransactionTicket(
                host.worker(), host.lease(), held.run(), held.seed(), held.epoch(), call.position(), options);
        this.trouble = new Backoff(host.clockwork());
    }

    /** The result of the body while its transaction is on its way. */
    private static final class Result {
        private Values.@Nullable Stored stored;

        boolean is(Entry entry) {
            return entry.status() == Entry.Status.VALUE
                    && stored != null
                    && stored.payload().equals(entry.payload());
        }

        Values.Stored stored() {
            if (stored == null) {
                throw new IllegalStateException("A transaction was committed whose body did not run.");
            }
            return stored;
        }
    }

    @Override
    public Values.Stored perform(Steps.Guarded guarded) throws Exception {
        Result result = new Result();
        Transacted transacted = settled(source.run(ticket, handle -> {
            Values.Stored stored = guarded.run(() -> body.call(handle));
            if (!host.alive()) {
                throw transitions.lost(); // The fence would detect it; a database without one would not.
            }
            result.stored = stored;
            return call.answer(Entry.Status.VALUE, stored.payload());
        }));
        return switch (transacted) {
            case Transacted.Recorded() -> result.stored();
            case Transacted.Completed(Entry entry) -> {
                transitions.append(List.of(entry));
                if (!result.is(entry)) {
                    throw new Steps.Answered(entry);
                }
                yield result.stored();
            }
            case Transacted.Fenced() -> throw transitions.lost();
            case Transacted.Conflict(Exception cause) -> throw again(cause);
            case Transacted.Unavailable(Exception cause) -> {
                tellOfWaiting(cause);
                trouble.pause();
                throw new Steps.Again(cause);
            }
            case Transacted.Expired(Duration limit, Exception cause) -> throw expired(limit, cause);
            case Transacted.InDoubt doubt -> throw transitions.lost();
        };
    }

    /** Waits until the outcome of the transaction is known, or this worker no longer holds the run. */
    private Transacted settled(Transacted transacted) {
        Transacted known = transacted;
        Backoff patience = new Backoff(host.clockwork());
        while (known instanceof Transacted.InDoubt(Transacted.Inquiry inquiry) && host.alive()) {
            try {
                known = inquiry.ask();
            } catch (StoreException outOfReach) {
                if (outOfReach.kind() == StoreException.Kind.UNUSABLE) {
                    return known;
                }
            }
            if (known instanceof Transacted.InDoubt) {
                patience.pause();
            }
        }
        return known;
    }

    @Override
    public Entry giveUp(Entry failure) {
        Backoff patience = new Backoff(host.clockwork());
        while (true) {
            try {
                return source.giveUp(ticket, failure);
            } catch (StoreException outOfReach) {
                if (outOfReach.kind() == StoreException.Kind.UNUSABLE || !host.alive()) {
                    throw transitions.lost();
                }
                patience.pause();
            }
        }
    }

    /** Logs a longer wait once, because a wait leaves no trace in the journal. */
    private void tellOfWaiting(Exception cause) {
        waits++;
        if (waits == TOLD_AT_WAIT) {
            LOG.warn(
                    "Run {}: {} waits for its database, and continues when that is back: {}",
                    transitions.run(),
                    call.describe(),
                    RecordedException.of(cause).getMessage());
        }
    }

    private TimeoutException expired(Duration limit, Exception cause) {
        TimeoutException timeout = new TimeoutException(
                "Transaction step '%s' left its transaction idle for longer than %s, three quarters of the worker's lease, so the server ended it and nothing of it is committed. Do slow work in a step before it, or make the lease longer."
                        .formatted(call.name(), limit));
        timeout.initCause(cause);
        return timeout;
    }

    /** Lets the other transactions go first: a random pause, longer each time. */
    private Exception again(Exception cause) {
        if (reruns == MOST_RERUNS) {
            reruns = 0;
            return cause;
        }
        long longest = SHORTEST_PAUSE << Math.min(reruns, MOST_DOUBLINGS);
        reruns++;
        Waiting.housekeeping(
                host.clockwork().signal(), Math.floorMod(host.clockwork().random(), longest));
        return new Steps.Again(cause);
    }
}
