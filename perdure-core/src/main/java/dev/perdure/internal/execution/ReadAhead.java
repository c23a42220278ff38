package dev.perdure.internal.execution;

import dev.perdure.internal.time.Waiting;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Journals;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The pages of a journal that is longer than one: while the code goes through a page, the next is read. So there are two of
 * them in memory at most.
 */
final class ReadAhead implements IntFunction<Journals.Page> {
    private final Clockwork clockwork;
    private final String run;
    private final IntFunction<Journals.Page> read;
    private @Nullable Reading ahead;

    ReadAhead(Clockwork clockwork, String run, IntFunction<Journals.Page> read) {
        this.clockwork = clockwork;
        this.run = run;
        this.read = read;
    }

    /** The page after a position: what is read ahead begins where the page before it ended. */
    @Override
    public Journals.Page apply(int after) {
        Journals.Page page = ahead == null ? read.apply(after) : ahead.join();
        ahead = page.last() || page.entries().isEmpty()
                ? null
                : new Reading(page.entries().getLast().entry().position());
        return page;
    }

    private final class Reading {
        private final Clockwork.Signal arrived = clockwork.signal();
        private volatile Journals.@Nullable Page page;
        private volatile @Nullable RuntimeException trouble;

        Reading(int after) {
            clockwork.fork("perdure-journal-" + run, () -> read(after));
        }

        private void read(int after) {
            try {
                page = read.apply(after);
            } catch (RuntimeException unreachable) {
                trouble = unreachable;
            } finally {
                arrived.raise();
            }
        }

        Journals.Page join() {
            Waiting.forSignal(arrived);
            if (page != null) {
                return page;
            }
            throw trouble == null ? new IllegalStateException("The reading of a journal died.") : trouble;
        }
    }
}
