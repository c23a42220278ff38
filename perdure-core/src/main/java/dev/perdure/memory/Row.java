package dev.perdure.memory;

import dev.perdure.HistoryEvent;
import dev.perdure.RunState;
import dev.perdure.spi.Channel;
import dev.perdure.spi.Control;
import dev.perdure.spi.Entry;
import dev.perdure.spi.Mailboxes.Published;
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
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
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
    NewRun start;
    final Instant createdAt;
    final NavigableMap<Place, Recorded> journal = new TreeMap<>();
    final List<HistoryEvent> changes = new ArrayList<>();
    final Mailbox mailbox = new Mailbox();
    final List<Output> published = new ArrayList<>();

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

    Set<Channel> awaited = Set.of();
    int needed;
    int restarts;

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

    /** Something the run shows to the world. */
    record Output(String name, Published value) {}

    /** Replaces what is asked of the run. */
    void ask(UnaryOperator<Control> change) {
        control = change.apply(control);
    }

    boolean isHeldBy(@Nullable WorkerId worker, long underEpoch) {
        return state == RunState.RUNNING && epoch == underEpoch && owner != null && owner.equals(worker);
    }
}
