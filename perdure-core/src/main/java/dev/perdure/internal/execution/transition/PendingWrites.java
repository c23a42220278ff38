package dev.perdure.internal.execution.transition;

import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Entry;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** What a run has to write and needs no answer for. It waits here for the next transition. */
final class PendingWrites {
    // Empty ones are shared, because a run at work has nothing to write most of the time.
    private List<Entry> entries = List.of();
    /** The entries that only a replay needs, and that are useless once the run has ended. */
    private List<Entry> forReplay = List.of();

    private List<Effect> effects = List.of();
    private List<Consumer<Instant>> whenDurable = List.of();

    /**
     * What one transition writes.
     *
     * @param entries for the journal
     * @param effects beyond the run
     * @param whenDurable called with the time of the transition
     */
    record Load(List<Entry> entries, List<Effect> effects, List<Consumer<Instant>> whenDurable) {
        static final Load NOTHING = new Load(List.of(), List.of(), List.of());
    }

    boolean isEmpty() {
        return entries.isEmpty();
    }

    void add(Entry entry) {
        entries = with(entries, entry);
    }

    private static <T> List<T> with(List<T> list, T next) {
        List<T> longer = list.isEmpty() ? new ArrayList<>() : list;
        longer.add(next);
        return longer;
    }

    void addForReplay(Entry entry) {
        forReplay = with(forReplay, entry);
        add(entry);
    }

    void add(Entry entry, Consumer<Instant> durable) {
        add(entry);
        whenDurable = with(whenDurable, durable);
    }

    void add(Effect effect) {
        effects = with(effects, effect);
    }

    void addAll(List<Effect> more) {
        more.forEach(this::add);
    }

    /** Drops the entries that only a replay needs, because the run ends. */
    void dropForReplay() {
        if (!forReplay.isEmpty()) {
            entries.removeAll(forReplay);
        }
    }

    /** Takes everything out for one transition, which also writes these entries. */
    Load take(List<Entry> more) {
        List<Entry> all = new ArrayList<>(entries);
        all.addAll(more);
        Load load = new Load(all, effects, whenDurable);
        entries = List.of();
        forReplay = List.of();
        effects = List.of();
        whenDurable = List.of();
        return load;
    }
}
