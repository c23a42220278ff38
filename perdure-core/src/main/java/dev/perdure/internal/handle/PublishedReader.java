package dev.perdure.internal.handle;

import dev.perdure.Published;
import dev.perdure.Topic;
import dev.perdure.error.ClosedException;
import dev.perdure.error.ResultUnavailableException;
import dev.perdure.internal.settings.Settings;
import dev.perdure.internal.waiter.ProgressWaiters;
import dev.perdure.internal.waiter.Waiters;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Mailboxes;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.payload.PayloadPlace;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/** Reads what a run publishes, one page at a time, and waits for more until the run has ended. */
final class PublishedReader<T extends @Nullable Object> implements Iterator<Published<T>> {
    private final RunRef run;
    private final Topic<T> topic;
    private final Settings settings;
    private final Waiters<ProgressWaiters.Wanted, ProgressWaiters.Seen> progress;
    private final Deque<Mailboxes.Published> page = new ArrayDeque<>();
    private long after;
    private boolean ended;

    PublishedReader(
            RunRef run,
            Topic<T> topic,
            long after,
            Settings settings,
            Waiters<ProgressWaiters.Wanted, ProgressWaiters.Seen> progress) {
        this.run = run;
        this.topic = topic;
        this.after = after;
        this.settings = settings;
        this.progress = progress;
    }

    @Override
    public boolean hasNext() {
        if (page.isEmpty() && !ended) {
            read(Clockwork.NEVER);
        }
        return !page.isEmpty();
    }

    @Override
    @SuppressWarnings({"unchecked", "NullAway"}) // decoded as the topic's own type
    public Published<T> next() {
        if (!hasNext()) {
            throw new NoSuchElementException("Run '%s' has ended and published nothing more.".formatted(run.id()));
        }
        Mailboxes.Published next = page.removeFirst();
        return new Published<>(next.offset(), next.at(), (T) settings.rules()
                .codec()
                .at(PayloadPlace.published(run.id(), topic.name()))
                .decode(next.payload(), topic.type()));
    }

    /** Waits for the first value. */
    void awaitFirst(Duration timeout) {
        read(WaitLimit.nanos(timeout));
        if (page.isEmpty()) {
            throw new ResultUnavailableException(
                    ended
                            ? "Run '%s' has ended without publishing '%s'.".formatted(run.id(), topic)
                            : "Run '%s' has not published '%s' after %s; %s"
                                    .formatted(
                                            run.id(),
                                            topic,
                                            timeout,
                                            Unfinished.describe(settings.store().runs(), run.id())));
        }
    }

    private void read(long nanos) {
        try {
            switch (progress.await(new ProgressWaiters.More(new Mailboxes.Place(run, topic.name(), after)), nanos)) {
                case ProgressWaiters.Page more -> take(more);
                case null -> {
                    if (nanos == Clockwork.NEVER) {
                        throw new ClosedException(
                                "The engine was closed while run '%s' was followed.".formatted(run.id()));
                    }
                }
                case ProgressWaiters.Settled promise ->
                    throw new IllegalStateException("Not what was asked for: " + promise);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new ResultUnavailableException(
                    "The wait for what run '%s' publishes was interrupted. Follow it again from the last offset."
                            .formatted(run.id()));
        }
    }

    private void take(ProgressWaiters.Page more) {
        if (more.removed()) {
            throw RunHandle.removed(run.id());
        }
        page.addAll(more.values());
        ended = more.values().isEmpty();
        if (!ended) {
            after = more.values().getLast().offset();
        }
    }
}
