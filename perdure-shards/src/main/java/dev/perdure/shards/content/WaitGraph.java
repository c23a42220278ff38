package dev.perdure.shards.content;

import dev.perdure.RunState;
import dev.perdure.spi.shard.CallWaits.AwaitedRun;
import dev.perdure.spi.shard.CallWaits.Life;
import dev.perdure.spi.shard.CallWaits.Reason;
import dev.perdure.spi.shard.CallWaits.Wait;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Which run waits for which, as read from several shards, and the cycles in that. */
public final class WaitGraph {
    private static final Comparator<Life> BY_KEY =
            Comparator.comparingLong(Life::key).thenComparingInt(Life::life);

    private final Map<Life, List<Wait>> waits = new HashMap<>();

    /** Adds a wait. */
    public void add(Wait wait) {
        waits.computeIfAbsent(wait.by(), unseen -> new ArrayList<>()).add(wait);
    }

    /**
     * Cycles that go over several shards: as many as there are without a run that two of them share. The same graph has the
     * same cycles, in whatever order its waits were added.
     */
    public List<Cycle> cycles() {
        List<Cycle> cycles = new ArrayList<>();
        Set<Life> taken = withoutCycles();
        waits.keySet().stream().sorted(BY_KEY).forEach(life -> {
            if (!taken.contains(life)) {
                shortestThrough(life, taken).filter(Cycle::crosses).ifPresent(cycle -> {
                    cycle.waits().forEach(wait -> taken.add(wait.by()));
                    cycles.add(cycle);
                });
            }
        });
        return cycles;
    }

    /** Runs that are in no cycle, because they wait for nothing but runs that are in none: nearly always all runs. */
    private Set<Life> withoutCycles() {
        Map<Life, List<Life>> waitingFor = new HashMap<>();
        Map<Life, Integer> left = new HashMap<>();
        waits.values().stream().flatMap(List::stream).forEach(wait -> {
            waitingFor
                    .computeIfAbsent(wait.on().in(), unseen -> new ArrayList<>())
                    .add(wait.by());
            left.merge(wait.by(), 1, Integer::sum);
        });
        Deque<Life> ending = new ArrayDeque<>(waitingFor.keySet());
        ending.removeIf(left::containsKey);
        Set<Life> outside = new HashSet<>(ending);
        while (!ending.isEmpty()) {
            for (Life waiting : waitingFor.getOrDefault(ending.remove(), List.of())) {
                if (left.merge(waiting, -1, Integer::sum) == 0) {
                    outside.add(waiting);
                    ending.add(waiting);
                }
            }
        }
        return outside;
    }

    private Optional<Cycle> shortestThrough(Life start, Set<Life> taken) {
        Map<Life, Wait> reachedBy = new HashMap<>();
        Deque<Life> frontier = new ArrayDeque<>(List.of(start));
        while (!frontier.isEmpty()) {
            for (Wait wait : following(frontier.remove())) {
                Life next = wait.on().in();
                if (next.equals(start)) {
                    return Optional.of(new Cycle(path(reachedBy, wait)));
                }
                if (!taken.contains(next) && reachedBy.putIfAbsent(next, wait) == null) {
                    frontier.add(next);
                }
            }
        }
        return Optional.empty();
    }

    private List<Wait> following(Life life) {
        return waits.getOrDefault(life, List.of()).stream()
                .sorted(Comparator.comparing(wait -> wait.on().in(), BY_KEY))
                .toList();
    }

    private static List<Wait> path(Map<Life, Wait> reachedBy, Wait last) {
        Deque<Wait> path = new ArrayDeque<>();
        for (Wait wait = last; wait != null; wait = reachedBy.get(wait.by())) {
            path.addFirst(wait);
        }
        return List.copyOf(path);
    }

    /**
     * Runs that wait for each other, each for the one of the next wait, and the last for the first.
     *
     * @param waits the waits
     */
    public record Cycle(List<Wait> waits) {
        /** A wait without what changes while it stands. */
        private record Identity(Life by, Reason reason, Life on) {
            static Identity of(Wait wait) {
                return new Identity(wait.by(), wait.reason(), wait.on().in());
            }
        }

        /** Whether it goes over several shards. The store finds the others by itself. */
        boolean crosses() {
            return waits.stream().anyMatch(wait -> wait.reason() == Reason.CALL_ACROSS);
        }

        /** The keys of its runs. */
        public List<Long> keys() {
            return waits.stream().map(wait -> wait.by().key()).toList();
        }

        /** The same cycle as these waits show it, which were read later; empty if it does not stand any more. */
        public Optional<Cycle> in(Collection<Wait> later) {
            Map<Identity, Wait> known = new HashMap<>();
            later.forEach(wait -> known.put(Identity.of(wait), wait));
            List<Wait> same = waits.stream()
                    .flatMap(wait -> Optional.ofNullable(known.get(Identity.of(wait))).stream())
                    .toList();
            return same.size() == waits.size() ? Optional.of(new Cycle(same)) : Optional.empty();
        }

        /**
         * The same cycle, begun with its youngest call that waits for its turn and is not paused. Every process that
         * finds the cycle finds the same call. Empty if all are paused.
         */
        public Optional<Cycle> fromYoungest() {
            Optional<AwaitedRun> youngest = waits.stream()
                    .filter(wait -> waits.stream()
                            .anyMatch(turn -> turn.reason() == Reason.TURN
                                    && turn.by().equals(wait.on().in())))
                    .map(Wait::on)
                    .filter(call -> call.state() == RunState.PENDING)
                    .max(Comparator.comparing((AwaitedRun call) -> call.seen().createdAt())
                            .thenComparingLong(call -> call.run().key()));
            return youngest.map(call -> {
                List<Wait> rotated = new ArrayList<>(waits);
                while (!rotated.getLast().on().equals(call)) {
                    rotated.add(rotated.removeFirst());
                }
                return new Cycle(rotated);
            });
        }

        /** Its runs: after {@link #fromYoungest}, the youngest call comes first. */
        public List<AwaitedRun> runs() {
            List<AwaitedRun> runs = new ArrayList<>(waits.stream().map(Wait::on).toList());
            runs.addFirst(runs.removeLast());
            return runs;
        }
    }
}
