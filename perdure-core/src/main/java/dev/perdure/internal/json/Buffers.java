package dev.perdure.internal.json;

import java.util.concurrent.atomic.AtomicReferenceArray;
import tools.jackson.core.util.BufferRecycler;
import tools.jackson.core.util.RecyclerPool;

/**
 * The buffers that values are read and written with, kept for the next one. Every thread has a place where it looks, which it
 * may share with others: it takes what is there, or new ones, and puts them back. So there is no list to be kept, which costs
 * more than a short value, and nothing per thread, of which there are many.
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
