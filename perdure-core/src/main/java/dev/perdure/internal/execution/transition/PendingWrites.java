package dev.perdure.internal.execution.transition;

import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Entry;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** What a run has to write and needs no answer for. It waits here for the next transition. */
final class PendingWrites {
    private final List<Entry> entries = new ArrayList<>();
    /** The entries that only a replay needs, and that are useless once the run has ended. */
    private final List<Entry> forReplay = new ArrayList<>();

    private final List<Effect> effects = new ArrayList<>();
    private final List<Consumer<Instant>> whenDurable = new ArrayList<>();

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
        entries.add(entry);
    }

    void addForReplay(Entry entry) {
        forReplay.add(entry);
        entries.add(entry);
    }

    void add(Entry entry, Consumer<Instant> durable) {
        entries.add(entry);
        whenDurable.add(durable);
    }

    void add(Effect effect) {
        effects.add(effect);
    }

    void addAll(List<Effect> more) {
        effects.addAll(more);
    }

    /** Drops the entries that only a replay needs, because the run ends. */
    void dropForReplay() {
        entries.removeAll(forReplay);
    }

    /** Takes everything out for one transition, which also writes these entries. */
    Load take(List<Entry> more) {
        List<Entry> all = new ArrayList<>(entries);
        all.addAll(more);
        Load load = new Load(all, List.copyOf(effects), List.copyOf(whenDurable));
        entries.clear();
        forReplay.clear();
        effects.clear();
        whenDurable.clear();
        return load;
    }
}
