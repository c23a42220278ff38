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
    private final Clockwork clockwork;
    private final ReentrantLock lock;

    // Under the lock.
    private Control control;
    private Mailboxes.@Nullable Arrived handed;
    private boolean givenBack;
    private boolean givenBackNow;
    private boolean lost;
    /** Whether there was news before the run's thread waited for the first time. */
    private boolean early;
    /** Made when the run's thread waits for the first time, because most runs never do. */
    private Clockwork.@Nullable Signal news;

    /**
     * The signals of a run.
     *
     * @param lock the lock of the run
     */
    public RunSignals(Control control, Clockwork clockwork, ReentrantLock lock) {
        this.control = control;
        this.clockwork = clockwork;
        this.lock = lock;
    }

    private <T extends @Nullable Object> T underLock(Supplier<T> work) {
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
        Clockwork.@Nullable Signal awaited = underLock(() -> {
            early |= news == null;
            return news;
        });
        if (awaited != null) {
            awaited.raise();
        }
    }

    /**
     * Waits until something happens, a workflow's timer ends, or the run has to leave memory. Returns whether something
     * happened.
     */
    public boolean awaitNews(long timerNanos, long housekeepingNanos) {
        return Waiting.until(news(), timerNanos, housekeepingNanos);
    }

    /** Only the run's own thread makes it. */
    private Clockwork.Signal news() {
        Clockwork.@Nullable Signal made = underLock(() -> news);
        if (made != null) {
            return made;
        }
        Clockwork.Signal first = clockwork.signal();
        boolean raised = underLock(() -> {
            news = first;
            return early;
        });
        if (raised) {
            first.raise();
        }
        return first;
    }
}
