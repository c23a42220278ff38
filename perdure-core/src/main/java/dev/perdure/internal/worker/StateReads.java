package dev.perdure.internal.worker;

import dev.perdure.internal.time.Waiting;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.States;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Lets calls that read the states of their virtual objects at the same time share a round trip. A call that finds no
 * read on its way leads: it reads for all calls in the queue. Then the first call that has arrived meanwhile leads.
 */
final class StateReads {
    private static final int MOST = 500;

    private final States states;
    private final Clockwork clockwork;
    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<Reader> queue = new ArrayDeque<>();
    private boolean reading;

    StateReads(States states, Clockwork clockwork) {
        this.states = states;
        this.clockwork = clockwork;
    }

    private static final class Reader {
        private final ObjectKey object;
        private final Clockwork.Signal signal;
        private boolean leads;
        private @Nullable SortedMap<String, Payload> state;
        private @Nullable Throwable failure;

        Reader(ObjectKey object, Clockwork.Signal signal) {
            this.object = object;
            this.signal = signal;
        }
    }

    /** The state of an object. The caller may keep it. */
    SortedMap<String, Payload> read(ObjectKey object) {
        Reader reader = new Reader(object, clockwork.signal());
        locked(() -> {
            queue.add(reader);
            appoint();
            return true;
        });
        while (true) {
            if (locked(() -> reader.leads)) {
                lead();
            }
            SortedMap<String, Payload> state = locked(() -> answered(reader));
            if (state != null) {
                return state;
            }
            Waiting.forSignal(reader.signal);
        }
    }

    private static @Nullable SortedMap<String, Payload> answered(Reader reader) {
        return switch (reader.failure) {
            case null -> reader.state;
            case Error broken -> throw broken;
            case RuntimeException thrown -> throw thrown;
            default -> throw new IllegalStateException(reader.failure);
        };
    }

    private <T extends @Nullable Object> T locked(Supplier<T> work) {
        lock.lock();
        try {
            return work.get();
        } finally {
            lock.unlock();
        }
    }

    private void appoint() {
        Reader next = queue.peekFirst();
        if (!reading && next != null) {
            reading = true;
            next.leads = true;
            next.signal.raise();
        }
    }

    private void lead() {
        List<Reader> batch = locked(this::take);
        Map<ObjectKey, SortedMap<String, Payload>> found = Map.of();
        Throwable failure = null;
        try {
            found = states.readAll(
                    batch.stream().map(reader -> reader.object).distinct().toList());
        } catch (RuntimeException | Error thrown) { // All calls get the failure: each asks again, or gives up.
            failure = thrown;
        }
        try {
            for (Reader reader : batch) {
                answer(reader, found, failure);
            }
        } finally {
            locked(() -> {
                reading = false;
                appoint();
                return true;
            });
        }
    }

    private List<Reader> take() {
        List<Reader> batch = new ArrayList<>();
        while (!queue.isEmpty() && batch.size() < MOST) {
            Reader reader = queue.removeFirst();
            reader.leads = false;
            batch.add(reader);
        }
        return batch;
    }

    private void answer(Reader reader, Map<ObjectKey, SortedMap<String, Payload>> found, @Nullable Throwable failure) {
        locked(() -> {
            reader.failure = failure;
            reader.state = failure == null ? new TreeMap<>(found.getOrDefault(reader.object, new TreeMap<>())) : null;
            return true;
        });
        reader.signal.raise();
    }
}
