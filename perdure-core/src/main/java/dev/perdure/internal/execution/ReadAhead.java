package dev.perdure.internal.execution;

import dev.perdure.internal.time.Waiting;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Journals;
import java.util.Objects;
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
        Reading begun = ahead;
        ahead = null; // also if it fails: then the next question begins anew
        Journals.Page page = begun == null ? read.apply(after) : begun.join();
        ahead = page.last() || page.entries().isEmpty()
                ? null
                : new Reading(page.entries().getLast().entry().position());
        return page;
    }

    private final class Reading {
        private final Clockwork.Signal arrived = clockwork.signal();
        private volatile Journals.@Nullable Page page;
        private volatile @Nullable Throwable trouble;

        Reading(int after) {
            clockwork.fork("perdure-journal-" + run, () -> read(after));
        }

        private void read(int after) {
            try {
                page = read.apply(after);
            } catch (Throwable thrown) { // whatever it is, the run that waits for it has to deal with it
                trouble = thrown;
            } finally {
                arrived.raise();
            }
        }

        Journals.Page join() {
            Waiting.forSignal(arrived);
            switch (trouble) {
                case null -> {
                    return Objects.requireNonNull(page);
                }
                case Error broken -> throw broken;
                case RuntimeException unreachable -> throw unreachable;
                case Throwable checked -> throw new IllegalStateException("Reading throws nothing checked.", checked);
            }
        }
    }
}
