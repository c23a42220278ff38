package dev.perdure.memory;

import dev.perdure.HistoryEvent;
import dev.perdure.RunState;
import dev.perdure.spi.Control;
import dev.perdure.spi.Entry;
import dev.perdure.spi.NewRun;
import dev.perdure.spi.Payload;
import dev.perdure.spi.Recorded;
import dev.perdure.spi.RunRef;
import dev.perdure.spi.WorkerId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A run with its journal and its events. Read and written only under the lock of {@link Tables}. */
final class Row {
    /** The identity of an entry. */
    record Place(int position, int note) implements Comparable<Place> {
        private static final Comparator<Place> ORDER =
                Comparator.comparingInt(Place::position).thenComparingInt(Place::note);

        static Place of(Entry entry) {
            return new Place(entry.position(), entry.note());
        }

        @Override
        public int compareTo(Place other) {
            return ORDER.compare(this, other);
        }
    }

    final RunRef ref;
    final NewRun start;
    final Instant createdAt;
    final NavigableMap<Place, Recorded> journal = new TreeMap<>();
    final List<HistoryEvent> changes = new ArrayList<>();

    RunState state = RunState.READY;

    @Nullable
    String reason;

    Instant changedAt;

    @Nullable
    WorkerId owner;

    long epoch;
    int recoveries;
    int entriesAtRecovery;
    Control control = Control.NONE;

    @Nullable
    Instant wakeAt;

    long readySince;

    @Nullable
    Payload outcome;

    Row(RunRef ref, NewRun start, Instant createdAt) {
        this.ref = ref;
        this.start = start;
        this.createdAt = createdAt;
        this.changedAt = createdAt;
    }

    @Nullable
    Instant deadline() {
        return start.timeout() == null ? null : createdAt.plus(start.timeout());
    }

    /** How often it was recovered since it last added an entry. */
    int recoveriesWithoutProgress() {
        return journal.size() > entriesAtRecovery ? 0 : recoveries;
    }

    boolean isHeldBy(@Nullable WorkerId worker, long underEpoch) {
        return state == RunState.RUNNING && epoch == underEpoch && owner != null && owner.equals(worker);
    }
}
