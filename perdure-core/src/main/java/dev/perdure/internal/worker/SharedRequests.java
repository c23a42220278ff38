package dev.perdure.internal.worker;

import dev.perdure.internal.time.Waiting;
import dev.perdure.spi.Clockwork;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Lets runs that ask the store for the same kind of thing at the same time share a round trip. A run that finds no
 * request on its way leads: it asks for all runs in the queue, and then the first run that has come meanwhile leads.
 *
 * @param <Q> what a run asks
 * @param <A> what it gets
 */
final class SharedRequests<Q, A> {
    private static final int MOST = 500;

    private final Function<List<Q>, List<A>> store;
    private final Clockwork clockwork;
    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<Asking<Q, A>> queue = new ArrayDeque<>();
    private boolean asking;

    /** @param store gives an answer for each request, in their order */
    SharedRequests(Function<List<Q>, List<A>> store, Clockwork clockwork) {
        this.store = store;
        this.clockwork = clockwork;
    }

    private static final class Asking<Q, A> {
        private final Q request;
        private final Clockwork.Signal signal;
        private boolean leads;
        private @Nullable A answer;
        private @Nullable Throwable failure;

        Asking(Q request, Clockwork.Signal signal) {
            this.request = request;
            this.signal = signal;
        }
    }

    /** Asks; what the store throws is thrown to every run that has shared the round trip. */
    A ask(Q request) {
        Asking<Q, A> mine = new Asking<>(request, clockwork.signal());
        locked(() -> {
            queue.add(mine);
            appoint();
            return true;
        });
        while (true) {
            if (locked(() -> mine.leads)) {
                lead();
            }
            A answer = SharedRequests.<@Nullable A>locked(lock, () -> answered(mine));
            if (answer != null) {
                return answer;
            }
            Waiting.forSignal(mine.signal);
        }
    }

    private static <Q, A> @Nullable A answered(Asking<Q, A> mine) {
        return switch (mine.failure) {
            case null -> mine.answer;
            case Error broken -> throw broken;
            case RuntimeException thrown -> throw thrown;
            default -> throw new IllegalStateException(mine.failure);
        };
    }

    private <T> T locked(Supplier<T> work) {
        return locked(lock, work);
    }

    private static <T extends @Nullable Object> T locked(ReentrantLock lock, Supplier<T> work) {
        lock.lock();
        try {
            return work.get();
        } finally {
            lock.unlock();
        }
    }

    private void appoint() {
        Asking<Q, A> next = queue.peekFirst();
        if (!asking && next != null) {
            asking = true;
            next.leads = true;
            next.signal.raise();
        }
    }

    private void lead() {
        List<Asking<Q, A>> batch = locked(this::take);
        List<A> answers = List.of();
        Throwable failure = null;
        try {
            answers = store.apply(batch.stream().map(each -> each.request).toList());
        } catch (RuntimeException | Error thrown) { // each run asks again, or gives up
            failure = thrown;
        }
        try {
            for (int i = 0; i < batch.size(); i++) {
                answer(batch.get(i), failure == null ? answers.get(i) : null, failure);
            }
        } finally {
            locked(() -> {
                asking = false;
                appoint();
                return true;
            });
        }
    }

    private List<Asking<Q, A>> take() {
        List<Asking<Q, A>> batch = new ArrayList<>();
        while (!queue.isEmpty() && batch.size() < MOST) {
            Asking<Q, A> each = queue.removeFirst();
            each.leads = false;
            batch.add(each);
        }
        return batch;
    }

    private void answer(Asking<Q, A> each, @Nullable A answer, @Nullable Throwable failure) {
        locked(() -> {
            each.failure = failure;
            each.answer = answer;
            return true;
        });
        each.signal.raise();
    }
}
