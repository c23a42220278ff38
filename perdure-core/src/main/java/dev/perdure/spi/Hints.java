package dev.perdure.spi;

import dev.perdure.RunId;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.WorkerId;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Tells workers that it may be worth looking. Hints make things fast and never make them right: they may be lost, late or
 * doubled, and a store may have none.
 */
public interface Hints {
    /** A hint. */
    sealed interface Hint {}

    /** Some run became ready, or due earlier than the timers known before. */
    record WorkReady() implements Hint {}

    /**
     * A run that this worker holds was woken.
     *
     * @param worker the worker
     */
    record WorkerSignalled(WorkerId worker) implements Hint {}

    /**
     * A run that this worker holds got mail, and nothing else was asked of it since the wake before. With this a worker that
     * knows of that one need not ask the store; to any other it says what {@link WorkerSignalled} does.
     *
     * @param worker the worker
     * @param run the key of the run
     * @param epoch the epoch it is held under
     * @param wakes how often it was woken, this time included
     * @param mails how many mails have ever arrived for it
     * @param mail the last of them, if it is known here; or null, and then the worker reads the mailbox
     */
    record MailArrived(
            WorkerId worker,
            long run,
            long epoch,
            int wakes,
            long mails,
            @Nullable Mail mail) implements Hint {
        /** The last of the mails, under its number, if it is known here. */
        public Optional<Mailboxes.Arrived> arrived() {
            return Optional.ofNullable(mail).map(known -> new Mailboxes.Arrived(mails, known));
        }
    }

    /**
     * A run ended.
     *
     * @param run the run
     */
    record RunEnded(RunId run) implements Hint {}

    /**
     * A run shows something new: it has published a value, or one of its promises was settled.
     *
     * @param run the run
     */
    record RunShows(RunId run) implements Hint {}

    /** Whoever wants hints. Called on the store's threads: be quick, do not block. */
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

    /** Asks for hints from now on. */
    Subscription subscribe(Listener listener);
}
