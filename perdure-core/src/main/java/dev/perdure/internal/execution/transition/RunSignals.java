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
 * What other threads tell a run in memory: that a command was given, that mail has arrived, that it has to leave. Each signal wakes
 * the run's thread, which obeys at its next call or wait.
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

    /** Takes over what is asked; says whether that is news. */
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
     * Takes over that mail has arrived with this wake. Not if an earlier one is unknown here, which may have brought an order;
     * says whether there is nothing more to know.
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

    /** The last mail, if it came along with the word of its arrival and was not asked for since. */
    public Optional<Mailboxes.Arrived> handedMail() {
        return underLock(() -> {
            Optional<Mailboxes.Arrived> last = Optional.ofNullable(handed);
            handed = null;
            return last;
        });
    }

    /** What has been asked of the run. */
    public Control control() {
        return underLock(() -> control);
    }

    /** The store has said what is asked of the run. */
    void learn(Control asked) {
        underLock(() -> control = asked);
    }

    /** The run has its turn, and this was asked of it until then. What was said since counts more. */
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

    /** As {@link #giveBack()}, without waiting for the bodies of asynchronous steps. */
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

    /** Something happened that the run's thread may wait for. */
    void wakeUp() {
        news.raise();
    }

    /** Waits until something happens, a workflow's timer ends, or it is time to leave memory; says whether something did. */
    public boolean awaitNews(long timerNanos, long housekeepingNanos) {
        return Waiting.until(news, timerNanos, housekeepingNanos);
    }
}
