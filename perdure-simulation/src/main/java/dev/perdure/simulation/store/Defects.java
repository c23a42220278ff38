package dev.perdure.simulation.store;

import dev.perdure.RunChange;
import dev.perdure.RunState;
import dev.perdure.error.StoreException;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Leases;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.Mailboxes;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.States;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.version.WorkerInfo.Heap;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Stores with a defect each, to show that the simulation and the torture on PostgreSQL find it. */
public enum Defects {
    /** A worker that has lost a run goes on writing to it. */
    NO_FENCE(NoFence::new),
    /** A copy of a batch that was sent again takes effect later. */
    A_BATCH_APPLIED_LATE(LateBatch::new),
    /** A claim is answered again after its run was given back. */
    AN_ANSWER_AFTER_THE_GIVE_BACK(AnswerAfterGiveBack::new),
    /** A run goes to sleep although mail has arrived that it has not seen. */
    LOST_WAKE_UP(store -> new Changed(store, Defects::seeingEverything)),
    /** A mail stays in the mailbox when it is taken. */
    ANSWER_TAKEN_TWICE(store -> new Changed(store, Defects::takingNothing)),
    /** A timer is due before its time, and the store says that it is not early. */
    TIMER_EARLY(EarlyTimer::new),
    /** A start under a taken id with another input is taken for the same. */
    CONFLICT_IGNORED(store -> new Answered(
            store,
            outcome -> outcome instanceof Outcome.Existing existing
                    ? new Outcome.Existing(existing.run(), existing.definition(), true)
                    : outcome)),
    /** A call gets its object although another call holds it. */
    KEY_HANDED_TO_TWO(KeyHandedToTwo::new),
    /** A call begins with the state that an earlier call began with. */
    STATE_SHARED_BETWEEN_TWO_CALLS(StaleState::new),
    /** A token of an earlier life answers the question of the present one. */
    A_TOKEN_OF_AN_EARLIER_LIFE(OldTokens::new),
    /** A plan believes that an append will succeed, and does not check. */
    A_FAST_PLAN_THAT_SKIPS_A_CHECK(Believing::new),
    /** A worker looks for runs only after a hint. */
    HINT_AS_TRUTH(UnaryOperator.identity(), HintAsTruth::new);

    private final UnaryOperator<Store> plant;
    private final UnaryOperator<Store> seen;

    Defects(UnaryOperator<Store> plant) {
        this(plant, UnaryOperator.identity());
    }

    Defects(UnaryOperator<Store> plant, UnaryOperator<Store> seen) {
        this.plant = plant;
        this.seen = seen;
    }

    /** The store with this defect. */
    public Store in(Store store) {
        return plant.apply(store);
    }

    /** The store as a process sees it, if the defect is in the process. */
    public Store seen(Store store) {
        return seen.apply(store);
    }

    private static Change seeingEverything(Change change) {
        return change instanceof Change.Advance advance && advance.move() instanceof Move.Wait wait
                ? new Change.Advance(
                        advance.run(),
                        advance.epoch(),
                        advance.entries(),
                        advance.effects(),
                        new Move.Wait(wait.state(), wait.due(), wait.awaited(), Integer.MAX_VALUE))
                : change;
    }

    private static Change takingNothing(Change change) {
        return change instanceof Change.Advance advance
                ? new Change.Advance(
                        advance.run(),
                        advance.epoch(),
                        advance.entries(),
                        advance.effects().stream()
                                .filter(effect -> !(effect instanceof Effect.Take))
                                .toList(),
                        advance.move())
                : change;
    }

    /** Changes what is sent. */
    private static final class Changed extends ForwardingStore {
        private final UnaryOperator<Change> how;

        Changed(Store store, UnaryOperator<Change> how) {
            super(store);
            this.how = how;
        }

        @Override
        public Ledger ledger() {
            return (lane, changes) ->
                    behind().ledger().apply(lane, changes.stream().map(how).toList());
        }
    }

    /** Changes what is answered. */
    private static final class Answered extends ForwardingStore {
        private final UnaryOperator<Outcome> how;

        Answered(Store store, UnaryOperator<Outcome> how) {
            super(store);
            this.how = how;
        }

        @Override
        public Ledger ledger() {
            return (lane, changes) ->
                    behind().ledger().apply(lane, changes).stream().map(how).toList();
        }
    }

    /** The store knows the calls as shared, and gives them out as exclusive. */
    private static final class KeyHandedToTwo extends ForwardingStore {
        KeyHandedToTwo(Store store) {
            super(store);
        }

        private static Change shared(Change change) {
            return change instanceof Change.Start start && start.run().object() != null
                    ? new Change.Start(
                            start.run().on(new ObjectCall(start.run().object().object(), ObjectCall.Hold.SHARED)),
                            null,
                            start.mails(),
                            start.tasks())
                    : change;
        }

        private static Dispatch.Claimed exclusive(Dispatch.Claimed claim) {
            return claim.object() == null
                    ? claim
                    : new Dispatch.Claimed(
                            claim.run(),
                            claim.epoch(),
                            claim.definition(),
                            claim.input(),
                            claim.seed(),
                            claim.control(),
                            claim.deadline(),
                            claim.recoveries(),
                            claim.premises(),
                            new ObjectCall(claim.object().object(), ObjectCall.Hold.EXCLUSIVE),
                            claim.origin());
        }

        @Override
        public Ledger ledger() {
            return (lane, changes) -> behind().ledger()
                    .apply(lane, changes.stream().map(KeyHandedToTwo::shared).toList());
        }

        @Override
        public Dispatch dispatch() {
            return request -> {
                Dispatch.Polled polled = behind().dispatch().poll(request);
                return new Dispatch.Polled(
                        polled.claimed().stream().map(KeyHandedToTwo::exclusive).toList(),
                        polled.signalled(),
                        polled.nextDue(),
                        polled.aloneWaits());
            };
        }
    }

    private static final class NoFence extends ForwardingStore {
        private record Holder(WorkerId worker, long epoch) {}

        private final Map<Long, Holder> holders = new ConcurrentHashMap<>();

        NoFence(Store store) {
            super(store);
        }

        @Override
        public Dispatch dispatch() {
            return request -> {
                Dispatch.Polled polled = behind().dispatch().poll(request);
                polled.claimed()
                        .forEach(claim -> holders.put(claim.run().key(), new Holder(request.worker(), claim.epoch())));
                return polled;
            };
        }

        @Override
        public Ledger ledger() {
            return (lane, changes) -> {
                if (changes.size() == 1
                        && changes.getFirst() instanceof Change.Advance advance
                        && holders.get(advance.run().key()) instanceof Holder(WorkerId worker, long epoch)
                        && epoch > advance.epoch()) {
                    return behind().ledger()
                            .apply(
                                    new Lane(worker, lane.number()),
                                    List.of(new Change.Advance(
                                            advance.run(),
                                            epoch,
                                            advance.entries(),
                                            advance.effects(),
                                            advance.move())));
                }
                return behind().ledger().apply(lane, changes);
            };
        }
    }

    private static final class LateBatch extends ForwardingStore {
        private List<Change> late = List.of();
        private int left;

        LateBatch(Store store) {
            super(store);
        }

        @Override
        public Ledger ledger() {
            return (lane, changes) -> {
                if (lane.worker() == null
                        && late.isEmpty()
                        && changes.stream().anyMatch(change -> change instanceof Change.Command)) {
                    late = changes;
                    left = 4;
                    throw new StoreException(StoreException.Kind.UNAVAILABLE, "The first copy waits.", null);
                }
                List<Outcome> outcomes = behind().ledger().apply(lane, changes);
                if (!late.isEmpty() && --left == 0) {
                    behind().ledger().apply(Lane.client(9), late);
                }
                return outcomes;
            };
        }
    }

    private static final class AnswerAfterGiveBack extends ForwardingStore {
        private final Map<Long, Dispatch.Claimed> claims = new ConcurrentHashMap<>();
        private final List<Dispatch.Claimed> again = new CopyOnWriteArrayList<>();

        AnswerAfterGiveBack(Store store) {
            super(store);
        }

        @Override
        public Ledger ledger() {
            return (lane, changes) -> {
                for (Change change : changes) {
                    if (change instanceof Change.Advance advance
                            && advance.move() instanceof Move.Yield
                            && claims.containsKey(advance.run().key())) {
                        again.add(claims.get(advance.run().key()));
                    }
                }
                return behind().ledger().apply(lane, changes);
            };
        }

        @Override
        public Dispatch dispatch() {
            return request -> {
                Dispatch.Polled polled = behind().dispatch().poll(request);
                polled.claimed().forEach(claim -> claims.put(claim.run().key(), claim));
                if (again.isEmpty()) {
                    return polled;
                }
                List<Dispatch.Claimed> all = new ArrayList<>(again);
                again.clear();
                all.addAll(polled.claimed());
                return new Dispatch.Polled(all, polled.signalled(), polled.nextDue(), polled.aloneWaits());
            };
        }
    }

    /** Renewals are answered by a clock that is ahead of the one that writes. */
    private static final class EarlyTimer extends ForwardingStore {
        EarlyTimer(Store store) {
            super(store);
        }

        @Override
        public Leases leases() {
            Leases real = behind().leases();
            return new Leases() {
                @Override
                public Instant join(Joining worker) {
                    return real.join(worker).plusSeconds(5);
                }

                @Override
                public @Nullable Instant renew(WorkerId worker, Heap heap) {
                    Instant now = real.renew(worker, heap);
                    return now == null ? null : now.plusSeconds(5);
                }

                @Override
                public List<RunChange> sweep(int limit) {
                    return real.sweep(limit);
                }

                @Override
                public List<Owned> owned(WorkerId worker) {
                    return real.owned(worker);
                }

                @Override
                public void leave(WorkerId worker) {
                    real.leave(worker);
                }
            };
        }
    }

    private static final class HintAsTruth extends ForwardingStore {
        private volatile boolean hinted = true;
        private volatile boolean due;

        HintAsTruth(Store store) {
            super(store);
        }

        @Override
        public Hints hints() {
            return listener -> behind().hints().subscribe(hint -> {
                if (saysToLook(hint)) {
                    hinted = true;
                }
                listener.hint(hint);
            });
        }

        private static boolean saysToLook(Hints.Hint hint) {
            return switch (hint) {
                case Hints.WorkReady ready -> true;
                case Hints.WorkerSignalled signalled -> true;
                case Hints.MailArrived mail -> true;
                case Hints.LeaseInDoubt doubt -> false;
                case Hints.RunEnded ended -> false;
                case Hints.RunShows shows -> false;
                case Hints.OutgoingKept kept -> false;
                case Hints.CallsWait wait -> false;
                case Hints.PartitionsMoved moved -> false;
            };
        }

        @Override
        public Dispatch dispatch() {
            return request -> {
                if (!hinted && !due) {
                    return new Dispatch.Polled(List.of(), List.of(), null, false);
                }
                hinted = false;
                Dispatch.Polled polled = behind().dispatch().poll(request);
                due = polled.nextDue() != null;
                return polled;
            };
        }
    }

    private static final class StaleState extends ForwardingStore {
        private final Map<ObjectKey, SortedMap<String, Payload>> first = new ConcurrentHashMap<>();

        StaleState(Store store) {
            super(store);
        }

        @Override
        public States states() {
            return new States() {
                @Override
                public Optional<Payload> read(ObjectKey object, String name) {
                    return Optional.ofNullable(readAll(List.of(object))
                            .getOrDefault(object, new TreeMap<>())
                            .get(name));
                }

                @Override
                public List<String> types(String after, int limit) {
                    return behind().states().types(after, limit);
                }

                @Override
                public List<Listed> list(Page page) {
                    return behind().states().list(page);
                }

                @Override
                public Values read(ObjectKey object, String after, int limit, int maxBytes) {
                    return behind().states().read(object, after, limit, maxBytes);
                }

                @Override
                public Map<ObjectKey, SortedMap<String, Payload>> readAll(Collection<ObjectKey> objects) {
                    behind().states()
                            .readAll(objects)
                            .forEach((key, state) -> first.putIfAbsent(key, new TreeMap<>(state)));
                    Map<ObjectKey, SortedMap<String, Payload>> all = new HashMap<>();
                    objects.forEach(key -> all.put(key, first.getOrDefault(key, new TreeMap<>())));
                    return all;
                }
            };
        }
    }

    private static final class OldTokens extends ForwardingStore {
        private final Map<String, Mailboxes.Address> known = new ConcurrentHashMap<>();

        OldTokens(Store store) {
            super(store);
        }

        @Override
        public Mailboxes mailboxes() {
            Mailboxes real = behind().mailboxes();
            return (Mailboxes) Proxy.newProxyInstance(
                    Mailboxes.class.getClassLoader(), new Class<?>[] {Mailboxes.class}, (proxy, method, arguments) -> {
                        try {
                            Object answer = method.invoke(real, arguments);
                            if (method.getName().equals("awakeable") && arguments.length == 1) {
                                return remembered((String) arguments[0], (Optional<?>) answer);
                            }
                            return answer;
                        } catch (InvocationTargetException thrown) {
                            throw thrown.getCause();
                        }
                    });
        }

        private Optional<Mailboxes.Address> remembered(String hash, Optional<?> found) {
            found.map(Mailboxes.Address.class::cast).ifPresent(address -> known.put(hash, address));
            Mailboxes.Address old = known.get(hash);
            return old == null
                    ? Optional.empty()
                    : behind().runs()
                            .find(old.run())
                            .flatMap(run -> behind().mailboxes().awakeable(run.ref(), old.position()))
                            .or(() -> Optional.of(old));
        }
    }

    /** Answers a fenced append as applied. */
    private static final class Believing extends ForwardingStore {
        Believing(Store store) {
            super(store);
        }

        @Override
        public Ledger ledger() {
            return (lane, changes) -> {
                List<Outcome> outcomes = new ArrayList<>(behind().ledger().apply(lane, changes));
                for (int i = 0; i < outcomes.size(); i++) {
                    if (outcomes.get(i) instanceof Outcome.Fenced
                            && changes.get(i) instanceof Change.Advance advance
                            && advance.move() instanceof Move.Stay) {
                        outcomes.set(i, new Outcome.Applied(Instant.EPOCH, RunState.RUNNING));
                    }
                }
                return outcomes;
            };
        }
    }
}
