package dev.perdure.spi;

import dev.perdure.RunId;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.shard.Exchange;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Tells engines that something may have changed in the store. Hints only make the engine faster; it never relies on
 * them. They may be lost, late or duplicated, and a store may send none.
 */
public interface Hints {
    /** A hint. */
    sealed interface Hint {}

    /** A run became ready, or is due earlier than all timers known before. */
    record WorkReady() implements Hint {}

    /**
     * A run that this worker holds was woken.
     *
     * @param worker the worker
     */
    record WorkerSignalled(WorkerId worker) implements Hint {}

    /**
     * A run that this worker holds got mail, and no other request since the wake-up before. A worker that has seen that
     * wake-up need not ask the store. For any other worker this hint means the same as {@link WorkerSignalled}.
     *
     * @param worker the worker
     * @param run the key of the run
     * @param epoch the epoch under which the worker holds it
     * @param wakes how often it was woken, including this time
     * @param mails how many mails have ever arrived for it
     * @param mail the last of these mails, or null if the hint does not carry it; then the worker reads the mailbox
     */
    record MailArrived(
            WorkerId worker,
            long run,
            long epoch,
            int wakes,
            long mails,
            @Nullable Mail mail) implements Hint {
        /** The last mail with its number, if the hint carries it. */
        public Optional<Mailboxes.Arrived> arrived() {
            return Optional.ofNullable(mail).map(known -> new Mailboxes.Arrived(mails, known, null));
        }
    }

    /**
     * A run ended.
     *
     * @param run the run
     */
    record RunEnded(RunId run) implements Hint {}

    /**
     * A run has published a value, or one of its promises was settled.
     *
     * @param run the run
     */
    record RunShows(RunId run) implements Hint {}

    /**
     * The lease of some worker may have ended before its time: a renewal and a sweep may be worthwhile. A worker whose
     * own lease is meant learns by the renewal whether it is still alive.
     */
    record LeaseInDoubt() implements Hint {}

    /** The store keeps something more for another shard ({@link Exchange}). Only the process that caused it is told. */
    record OutgoingKept() implements Hint {}

    /**
     * Calls of virtual objects of this shard wait for their turn, so a look for a cycle over several shards may be worthwhile
     * ({@link Exchange#waits}). A sweep says so, and only to its own process.
     */
    record CallsWait() implements Hint {}

    /** Runs of this store may be on another shard now: a shard has a newer map of the partitions. */
    record PartitionsMoved() implements Hint {}

    /** Receives hints, on the store's threads: return quickly and do not block. */
    @FunctionalInterface
    interface Listener {
        /** Something may have happened. */
        void hint(Hint hint);
    }

    /** Ends a subscription. */
    @FunctionalInterface
    interface Subscription extends AutoCloseable {
        @Override
        void close();
    }

    /** Calls the listener with every hint from now on. */
    Subscription subscribe(Listener listener);
}
