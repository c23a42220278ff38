package dev.perdure.simulation;

import dev.perdure.RunChange;
import dev.perdure.RunId;
import dev.perdure.retention.Retention;
import dev.perdure.retention.RetentionInfo;
import dev.perdure.simulation.store.ForwardingStore;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Leases;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Removals;
import dev.perdure.spi.Runs;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Recorded;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.version.WorkerInfo.Heap;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A ledger outside of the store: what the store has acknowledged, to be compared with what it holds at the end.
 * Findings are things that must never be acknowledged.
 */
public final class Records extends ForwardingStore {
    private record Place(int position, int note) implements Comparable<Place> {
        @Override
        public int compareTo(Place other) {
            return position == other.position
                    ? Integer.compare(note, other.note)
                    : Integer.compare(position, other.position);
        }
    }

    private static final class Known {
        final RunRef ref;
        final Map<Place, Payload> entries = new TreeMap<>();
        /** The workers from which a sweep took it. */
        final List<WorkerId> takenFrom = new ArrayList<>();
        /** How often its worker gave it up because it could not continue it. */
        int givenUp;

        @Nullable
        WorkerId holder;

        long epoch;
        /** The last epoch of its earlier lives. */
        long earlierLives;

        boolean ended;

        Known(RunRef ref) {
            this.ref = ref;
        }
    }

    private final Map<String, Known> runs = new TreeMap<>();
    private final List<String> findings = new ArrayList<>();
    /** Workers whose processes have joined again, so that they did not die. */
    private final Set<WorkerId> returned = new HashSet<>();

    /** Of what goes to this store. */
    public Records(Store store) {
        super(store);
    }

    private Known known(RunRef run) {
        return runs.computeIfAbsent(run.id().value(), id -> new Known(run));
    }

    @Override
    public Ledger ledger() {
        return (lane, changes) -> {
            List<Outcome> outcomes = behind().ledger().apply(lane, changes);
            for (int i = 0; i < changes.size(); i++) {
                acknowledged(lane, changes.get(i), outcomes.get(i));
            }
            return outcomes;
        };
    }

    private void acknowledged(Lane lane, Change change, Outcome outcome) {
        switch (change) {
            case Change.Start start -> {
                if (outcome instanceof Outcome.Started started) {
                    Known known = known(started.run());
                    known.epoch = Math.max(known.epoch, started.owned() ? 1 : 0);
                    known.holder = started.owned() ? start.owner() : known.holder;
                    claimed(lane.worker(), started.handed(), true);
                }
            }
            case Change.Advance advance -> advanced(lane, advance, outcome);
            case Change.CompletedCall call -> {
                if (outcome instanceof Outcome.Applied) {
                    effects(call.effects());
                }
            }
            case Change.Rerun rerun -> rerun(lane, rerun, outcome);
            case Change.Retry retry -> {
                if (outcome instanceof Outcome.Applied) {
                    retried(retry.run());
                }
            }
            case Change.Fork fork -> {
                if (outcome instanceof Outcome.Started started) {
                    known(started.run());
                }
            }
            case Change.Repair repair -> {
                if (outcome instanceof Outcome.Applied) {
                    repaired(repair);
                }
            }
            case Change.Reassign reassign -> {}
            case Change.Retell retell -> {}
            case Change.Deliver deliver -> {}
            case Change.Command command -> {}
        }
    }

    /** The run and the tasks that begin anew have no entries and no end any more. */
    private void rerun(Lane lane, Change.Rerun rerun, Outcome outcome) {
        if (outcome instanceof Outcome.Applied done) {
            List<RunId> anew = new ArrayList<>(rerun.tasks());
            anew.add(rerun.run());
            for (RunId run : anew) {
                Known known = runs.get(run.value());
                if (known != null) {
                    known.entries.clear();
                    known.ended = false;
                    known.earlierLives = known.epoch;
                }
            }
            claimed(lane.worker(), done.handed(), false);
        }
    }

    private void retried(RunId run) {
        Known known = runs.get(run.value());
        if (known != null) {
            known.ended = false;
            forgetRemoved(known);
        }
    }

    /** The answer of the step is another one. A run that has ended stays so until it is retried. */
    private void repaired(Change.Repair repair) {
        Known known = runs.get(repair.run().value());
        if (known != null) {
            known.entries.keySet().removeIf(place -> place.position() == repair.position());
            forgetRemoved(known);
        }
    }

    /** What the run recorded before the call that failed is still there; that call is not. */
    private void forgetRemoved(Known known) {
        Set<Place> there = behind().journals().read(known.ref, 0, Integer.MAX_VALUE).entries().stream()
                .map(recorded ->
                        new Place(recorded.entry().position(), recorded.entry().note()))
                .collect(Collectors.toSet());
        known.entries.keySet().retainAll(there);
    }

    private void advanced(Lane lane, Change.Advance advance, Outcome outcome) {
        boolean applied = outcome instanceof Outcome.Applied;
        if (!applied && !(outcome instanceof Outcome.Woken) && !(outcome instanceof Outcome.AlreadyThere)) {
            return;
        }
        Known known = known(advance.run());
        Move move = advance.move();
        effects(advance.effects());
        boolean appends = move instanceof Move.Stay && advance.effects().isEmpty();
        if (applied && advance.epoch() < known.epoch && !appends) {
            findings.add("The store let %s advance under epoch %s by %s, although epoch %s was given out."
                    .formatted(advance.run().id(), advance.epoch(), String.valueOf(lane.worker()), known.epoch));
        }
        if (known.ended && (applied || move instanceof Move.Stay)) {
            findings.add("The store let %s advance after its end."
                    .formatted(advance.run().id()));
        }
        if (move instanceof Move.Stay && advance.epoch() <= known.earlierLives) {
            findings.add(
                    "The store let an earlier life of %s advance: its epoch was %s, and the last one of that life was %s."
                            .formatted(advance.run().id(), advance.epoch(), known.earlierLives));
        }
        if (!(outcome instanceof Outcome.AlreadyThere)) {
            for (Entry entry : advance.entries()) {
                known.entries.putIfAbsent(new Place(entry.position(), entry.note()), entry.payload());
            }
        }
        switch (move) {
            case Move.End end -> known.ended |= applied;
            case Move.Restart restart -> {
                known.entries.clear();
                known.earlierLives = advance.epoch();
            }
            case Move.Recover recover -> known.givenUp++;
            default -> {}
        }
        if (outcome instanceof Outcome.Applied done) {
            claimed(lane.worker(), done.handed(), false);
        }
    }

    private void effects(List<Effect> effects) {
        for (Effect effect : effects) {
            if (effect instanceof Effect.Start start) {
                started(start.run());
            }
        }
    }

    private void started(NewRun run) {
        behind().runs().find(run.id()).ifPresent(found -> known(found.ref()));
    }

    /**
     * A worker has got these runs.
     *
     * @param repeated whether the same runs may be named again, because a start is answered as before
     */
    private void claimed(@Nullable WorkerId worker, List<Dispatch.Claimed> claims, boolean repeated) {
        for (Dispatch.Claimed claim : claims) {
            Known known = known(claim.run());
            if (claim.epoch() < known.epoch || (claim.epoch() == known.epoch && !repeated)) {
                findings.add("The store gave out %s under epoch %s, although epoch %s was given out before."
                        .formatted(claim.run().id(), claim.epoch(), known.epoch));
            }
            known.epoch = claim.epoch();
            known.holder = worker;
            long deaths = known.takenFrom.stream()
                    .filter(former -> !returned.contains(former))
                    .count();
            if (claim.recoveries() > deaths + known.givenUp) {
                findings.add(
                        "%s counts %s recoveries. It was taken from %s, of which %s came back, and given up %s times."
                                .formatted(
                                        claim.run().id(),
                                        claim.recoveries(),
                                        known.takenFrom,
                                        returned,
                                        known.givenUp));
            }
        }
    }

    @Override
    public Dispatch dispatch() {
        return request -> {
            Dispatch.Polled polled = behind().dispatch().poll(request);
            claimed(request.worker(), polled.claimed(), false);
            return polled;
        };
    }

    /** Only runs that have ended are removed. */
    @Override
    public Removals removals() {
        Removals removals = behind().removals();
        return new Removals() {
            @Override
            public void declare(Retention retention) {
                removals.declare(retention);
            }

            @Override
            public void change(@Nullable Retention retention, @Nullable Audit audit) {
                removals.change(retention, audit);
            }

            @Override
            public RetentionInfo info() {
                return removals.info();
            }

            @Override
            public Removed remove(int limit) {
                return checked(() -> removals.remove(limit), removed -> removed.runs() > 0);
            }

            @Override
            public Outcome delete(RunId run, Change.Seen seen, Audit audit) {
                return checked(() -> removals.delete(run, seen, audit), Outcome.Applied.class::isInstance);
            }
        };
    }

    private <T> T checked(Supplier<T> removal, Predicate<T> removes) {
        List<RunId> live = runs.values().stream()
                .filter(this::isLive)
                .map(known -> known.ref.id())
                .toList();
        T answer = removal.get();
        if (removes.test(answer)) {
            live.stream()
                    .filter(run -> behind().runs().find(run).isEmpty())
                    .forEach(run -> findings.add("The store removed %s, which had not ended.".formatted(run)));
            runs.keySet().removeIf(id -> behind().runs().find(RunId.of(id)).isEmpty());
        }
        return answer;
    }

    private boolean isLive(Known known) {
        List<Runs.Entered> entered = behind().runs().entered(known.ref);
        return !entered.isEmpty() && !entered.getLast().state().isTerminal();
    }

    @Override
    public Leases leases() {
        Leases leases = behind().leases();
        return new Leases() {
            @Override
            public Instant join(Joining worker) {
                returned.addAll(worker.former());
                return leases.join(worker);
            }

            @Override
            public @Nullable Instant renew(WorkerId worker, Heap heap) {
                return leases.renew(worker, heap);
            }

            @Override
            public List<RunChange> sweep(int limit) {
                List<RunChange> swept = leases.sweep(limit);
                swept.forEach(change -> taken(change.runId()));
                return swept;
            }

            @Override
            public List<Owned> owned(WorkerId worker) {
                return leases.owned(worker);
            }

            @Override
            public void leave(WorkerId worker) {
                leases.leave(worker);
            }
        };
    }

    private void taken(RunId run) {
        Known known = runs.get(run.value());
        if (known != null && known.holder != null) {
            known.takenFrom.add(known.holder);
            known.holder = null;
        }
    }

    /** The workers that lost runs to a sweep, and whose processes have not joined again. */
    Set<WorkerId> missing() {
        Set<WorkerId> missing = new HashSet<>();
        runs.values().forEach(known -> missing.addAll(known.takenFrom));
        missing.removeAll(returned);
        return missing;
    }

    List<RunRef> refs() {
        return runs.values().stream().map(known -> known.ref).toList();
    }

    /** The runs whose start was acknowledged. */
    List<RunId> started() {
        return runs.values().stream().map(known -> known.ref.id()).toList();
    }

    /** What was acknowledged and must not have been, and what was recorded and is not there. */
    List<String> findings() {
        List<String> all = new ArrayList<>(findings);
        for (Known known : runs.values()) {
            Journals.Page page = behind().journals().read(known.ref, 0, Integer.MAX_VALUE);
            Map<Place, Payload> there = new TreeMap<>();
            for (Recorded recorded : page.entries()) {
                there.put(
                        new Place(recorded.entry().position(), recorded.entry().note()),
                        recorded.entry().payload());
            }
            known.entries.forEach((place, payload) -> {
                if (!payload.equals(there.get(place))) {
                    all.add("The entry %s/%s of %s is %s, and was acknowledged as %s."
                            .formatted(place.position, place.note, known.ref.id(), there.get(place), payload));
                }
            });
        }
        return all;
    }
}
