package dev.perdure.memory;

import dev.perdure.RunState;
import dev.perdure.StartKey;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.NewRun;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The keys under which runs were started. A key names a run. That run and the time show whether the key still counts,
 * so nothing has to give a key back.
 */
final class MemoryStartKeys {
    /** A key of one kind, for one definition. */
    private record Id(String definition, Class<?> kind, String key) {}

    /** The run that has a key. */
    private static final class Named {
        final Row run;
        /** The seed of the last start that was answered. It identifies a start that is sent again. */
        long seed;
        /** When the key expires, or the latest time at which a debounced run begins; or null. */
        final @Nullable Instant until;
        /** When to look whether it still counts: a start that was not answered may be sent again for a while. */
        final Instant lookAt;

        Named(Row run, @Nullable Instant until, Instant now) {
            this.lookAt = now.plus(KEPT);
            this.run = run;
            this.seed = run.start.seed();
            this.until = until;
        }
    }

    /** So long a key is kept at least, whether it counts or not. */
    private static final Duration KEPT = Duration.ofHours(1);

    private final Tables tables;
    private final MemoryLedger ledger;
    private final Map<Id, Named> named = new HashMap<>();

    MemoryStartKeys(Tables tables, MemoryLedger ledger) {
        this.tables = tables;
        this.ledger = ledger;
    }

    Outcome start(Change.Start start, StartKey key) {
        Id id = new Id(start.run().definition(), key.getClass(), key.key());
        Named present = named.get(id);
        if (present == null) {
            return begin(id, start, key, null);
        }
        NewRun wanted = start.run();
        Row holder = present.run;
        Outcome existing = new Outcome.Existing(
                holder.ref,
                holder.start.definition(),
                holder.restarts > 0 || holder.start.input().equals(wanted.input()));
        return switch (key) {
            case StartKey.IdempotencyKey idempotency ->
                present.until != null && tables.now().isBefore(present.until)
                        ? given(start, key, holder, existing)
                        : begin(id, start, key, null);
            case StartKey.Debounce debounce -> debounced(id, start, debounce, present);
            case StartKey.Deduplication deduplication
            when !counts(holder, deduplication.until()) ->
                begin(id, start, key, holder.waitsForReplaced() ? holder.replaces : null);
            case StartKey.Deduplication deduplication ->
                switch (deduplication.duplicate()) {
                    case ATTACH -> given(start, key, holder, existing);
                    case REFUSE -> given(start, key, holder, new Outcome.KeyTaken(holder.ref));
                    case REPLACE -> replace(id, start, deduplication, holder);
                };
        };
    }

    private static boolean counts(Row holder, StartKey.Until until) {
        return !holder.state.isTerminal() && (until == StartKey.Until.ENDED || !holder.hasBegun());
    }

    /** Another run has the key. */
    private Outcome given(Change.Start start, StartKey key, Row holder, Outcome answer) {
        if (!start.run().admission().unanswered()) {
            return answer;
        }
        return ledger.beginCancelled(plain(start), Admission.given(key, holder.ref.id()));
    }

    private Outcome replace(Id id, Change.Start start, StartKey.Deduplication key, Row holder) {
        boolean needsPlace = !leavesPlaceTo(holder, start.run());
        if (needsPlace && ledger.turnsAway(plain(start))) {
            return ledger.admit(plain(start));
        }
        String reason = Admission.replaced(key, start.run().id());
        Row before = holder.waitsForReplaced() ? holder.replaces : null;
        if (!ledger.expire(holder, reason) && key.until() == StartKey.Until.ENDED) {
            ledger.cancel(holder, reason);
            before = holder.state.isTerminal() ? null : holder;
        }
        Change.Start plain = before == null ? plain(start) : unowned(start);
        return named(id, start, key, before, needsPlace ? ledger.admit(plain) : ledger.begin(plain));
    }

    /** Whether a run that replaces it takes its place in the queue, and so needs no other. */
    private static boolean leavesPlaceTo(Row holder, NewRun next) {
        boolean takesPlaces = holder.state != RunState.PAUSED && !isDelayed(holder);
        return takesPlaces
                && next.queue().equals(holder.start.queue())
                && Objects.equals(next.queueKey(), holder.start.queueKey());
    }

    private static boolean isDelayed(Row row) {
        return row.state == RunState.SUSPENDED && row.epoch == 0;
    }

    private Outcome debounced(Id id, Change.Start start, StartKey.Debounce key, Named present) {
        NewRun wanted = start.run();
        Row holder = present.run;
        boolean repeated = present.seed == wanted.seed();
        boolean waits = holder.state == RunState.SUSPENDED && holder.epoch == 0 && holder.wakeAt != null;
        if (!repeated && !waits) {
            return begin(id, start, key, null);
        }
        if (!repeated && present.until != null) {
            Instant due = tables.now().plus(key.quiet());
            tables.timers.remove(holder);
            holder.wakeAt = due.isBefore(present.until) ? due : present.until;
            holder.start = holder.start.withInput(wanted.input());
            tables.timers.add(holder);
            tables.hint(new Hints.WorkReady());
            present.seed = wanted.seed();
        }
        return given(start, key, holder, new Outcome.Existing(holder.ref, holder.start.definition(), true));
    }

    /** @param before the run that has to end first, or null */
    private Outcome begin(Id id, Change.Start start, StartKey key, @Nullable Row before) {
        return named(
                id, start, key, before, before == null ? ledger.admit(plain(start)) : ledger.begin(unowned(start)));
    }

    private Outcome named(Id id, Change.Start start, StartKey key, @Nullable Row before, Outcome outcome) {
        if (outcome instanceof Outcome.Started) {
            Row row = row(start);
            if (before != null && row.state == RunState.READY) {
                holdBack(row, before);
            }
            named.put(id, new Named(row, until(key), tables.now()));
            if (key instanceof StartKey.Deduplication deduplication && deduplication.until() == StartKey.Until.ENDED) {
                row.startKey = key.key();
            }
        }
        return outcome;
    }

    private @Nullable Instant until(StartKey key) {
        return switch (key) {
            case StartKey.Deduplication deduplication -> null;
            case StartKey.IdempotencyKey idempotency -> tables.now().plus(idempotency.timeToLive());
            case StartKey.Debounce debounce -> tables.now().plus(debounce.longestWait());
        };
    }

    private Row row(Change.Start start) {
        return Objects.requireNonNull(tables.byId.get(start.run().id()));
    }

    private static Change.Start plain(Change.Start start) {
        NewRun run = start.run();
        return new Change.Start(
                run.withAdmission(run.admission().withoutKey()), start.owner(), start.mails(), start.tasks());
    }

    private static Change.Start unowned(Change.Start start) {
        Change.Start plain = plain(start);
        return new Change.Start(plain.run(), null, plain.mails(), plain.tasks());
    }

    /** The run is pending at first instead of ready. */
    private void holdBack(Row row, Row before) {
        tables.ready.remove(row);
        row.entered.clear();
        row.state = RunState.PENDING;
        row.reason = Admission.replaces(before.ref.id());
        row.replaces = before;
        tables.entered(row, row.reason);
    }

    /** The run that has the deduplication key of this run now and has not ended, or has to end first; or null. */
    @Nullable
    Row rival(Row row) {
        Named present = row.startKey == null ? null : named.get(deduplication(row, row.startKey));
        if (present == null) {
            return null;
        }
        Row holder = present.run;
        if (holder != row && !holder.state.isTerminal()) {
            return holder;
        }
        return holder.replaces != row && holder.waitsForReplaced() ? holder.replaces : null;
    }

    /** Gives a run that continues its deduplication key back. */
    void takeBack(Row row) {
        if (row.startKey != null) {
            named.put(deduplication(row, row.startKey), new Named(row, null, tables.now()));
        }
    }

    private static Id deduplication(Row row, String key) {
        return new Id(row.start.definition(), StartKey.Deduplication.class, key);
    }

    /** Lets runs begin whose predecessors under their keys have ended. */
    void release() {
        forget();
        for (Named each : named.values()) {
            Row row = each.run;
            if (row.replaces != null && !row.waitsForReplaced()) {
                row.replaces = null;
                if (row.state == RunState.PENDING) {
                    tables.change(row, RunState.READY, null);
                }
            }
        }
    }

    /** Whether a key names this run, or the run has to end before another one under its key begins. */
    boolean names(Row row) {
        forget();
        return named.values().stream().anyMatch(key -> key.run == row || key.run.replaces == row);
    }

    /** Forgets keys that no longer count. */
    private void forget() {
        Instant now = tables.now();
        named.entrySet().removeIf(each -> {
            Named key = each.getValue();
            boolean counts = each.getKey().kind() == StartKey.IdempotencyKey.class
                    ? key.until != null && now.isBefore(key.until)
                    : !key.run.state.isTerminal();
            return !counts && key.run.replaces == null && !now.isBefore(key.lookAt);
        });
    }
}
