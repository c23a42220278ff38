package dev.perdure.internal.execution.transition;

import dev.perdure.internal.time.Waiting;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Mailboxes;
import dev.perdure.spi.change.Control;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The signals of other threads to a run in memory: a command, new mail, a request to leave. Each signal wakes the run's
 * thread, which obeys at its next call or wait.
 */
public final class RunSignals {
    private final Clockwork.Signal news;
    private final ReentrantLock lock = new ReentrantLock();

    // Under the lock.
    private Control control;
    private Mailboxes.@Nullable Arrived handed;
    private boolean givenBack;
    private boolean givenBackNow;
    private boolean lost;

    public RunSignals(Control control, Clockwork clockwork) {
        this.control = control;
        this.news = clockwork.signal();
    }

    private <T> T underLock(Supplier<T> work) {
        lock.lock();
        try {
            return work.get();
        } finally {
            lock.unlock();
        }
    }

    /** Takes over the requests. Returns whether they are new. */
    public boolean signal(Control asked) {
        boolean newer = underLock(() -> {
            boolean later = asked.wakes() > control.wakes();
            control = later ? asked : control;
            return later;
        });
        if (newer) {
            wakeUp();
        }
        return newer;
    }

    /**
     * Takes over that mail has arrived with this wake-up. Does not do so if an earlier wake-up is unknown here, because
     * that may have brought a command. Returns whether there is nothing more to ask the store.
     */
    public boolean mailed(Hints.MailArrived mail) {
        boolean newer = underLock(() -> {
            boolean next = mail.wakes() == control.wakes() + 1;
            if (next) {
                control = new Control(mail.wakes(), mail.mails(), control.cancel(), control.kill(), control.pause());
                handed = mail.arrived().orElse(null);
            }
            return next;
        });
        if (newer) {
            wakeUp();
        }
        return newer || underLock(() -> mail.wakes() <= control.wakes());
    }

    /** The last mail, if the wake-up brought it and it has not been read since. */
    public Optional<Mailboxes.Arrived> handedMail() {
        return underLock(() -> {
            Optional<Mailboxes.Arrived> last = Optional.ofNullable(handed);
            handed = null;
            return last;
        });
    }

    /** The requests for the run. */
    public Control control() {
        return underLock(() -> control);
    }

    /** Takes over the requests that the store has returned. */
    void learn(Control asked) {
        underLock(() -> control = asked);
    }

    /** The run has its turn, with the requests up to then. Later requests take precedence. */
    void begin(Control asked) {
        underLock(() -> control = control.wakes() == 0 ? asked : control);
    }

    public void giveBack() {
        underLock(() -> givenBack = true);
        wakeUp();
    }

    public boolean isGivenBack() {
        return underLock(() -> givenBack);
    }

    /** As {@link #giveBack()}, but does not wait for the bodies of asynchronous steps. */
    public void giveBackNow() {
        underLock(() -> givenBackNow = true);
        giveBack();
    }

    boolean isGivenBackNow() {
        return underLock(() -> givenBackNow);
    }

    public void lose() {
        underLock(() -> lost = true);
        wakeUp();
    }

    public boolean isLost() {
        return underLock(() -> lost);
    }

    /** Something happened for which the run's thread may wait. */
    void wakeUp() {
        news.raise();
    }

    /**
     * Waits until something happens, a workflow's timer ends, or the run has to leave memory. Returns whether something
     * happened.
     */
    public boolean awaitNews(long timerNanos, long housekeepingNanos) {
        return Waiting.until(news, timerNanos, housekeepingNanos);
    }
}
