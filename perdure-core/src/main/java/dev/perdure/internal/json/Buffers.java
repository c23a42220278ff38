package dev.perdure.internal.json;

import java.util.concurrent.atomic.AtomicReferenceArray;
import tools.jackson.core.util.BufferRecycler;
import tools.jackson.core.util.RecyclerPool;

/**
 * Keeps the buffers with which values are read and written, for reuse. Each thread has a slot, which it may share with
 * other threads. It takes the buffers that are in its slot, or new ones, and puts them back afterwards. So there is no
 * list to maintain, which would cost more than a short value, and nothing per thread, because there are many threads.
 */
final class Buffers implements RecyclerPool<BufferRecycler> {
    private static final long serialVersionUID = 1;
    private static final int PLACES = 16;

    private final transient AtomicReferenceArray<BufferRecycler> kept = new AtomicReferenceArray<>(PLACES);

    @Override
    public BufferRecycler acquirePooled() {
        BufferRecycler found = kept.getAndSet(place(), null);
        return found == null ? new BufferRecycler() : found;
    }

    @Override
    public void releasePooled(BufferRecycler used) {
        kept.lazySet(place(), used);
    }

    private static int place() {
        return (int) Thread.currentThread().threadId() & PLACES - 1;
    }
}
