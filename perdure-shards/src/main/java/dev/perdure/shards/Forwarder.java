package dev.perdure.shards;

import dev.perdure.RunId;
import dev.perdure.error.StoreException;
import dev.perdure.shards.content.SentChange;
import dev.perdure.shards.content.SentChange.UnreadableException;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.EndReport;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.report.EngineLog;
import dev.perdure.spi.shard.Exchange.Content;
import dev.perdure.spi.shard.Exchange.Outgoing;
import dev.perdure.spi.shard.Partitions;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import org.slf4j.Logger;

/**
 * Carries what is on its way from one shard to another, or to the shard itself, if it has got a partition since.
 *
 * <p>How it works. It reads what the one shard keeps for the other, by number, applies it there, and removes it. A crash
 * between any two of these leaves it where it was, and it is carried over once more: a mail has its token, a start its seed,
 * and a second cancel changes nothing. Several processes may do this at the same time. Each begins with the oldest, so
 * what one run has sent to another is first applied in the order in which it was sent, whoever applies it; after that, the
 * copies of others change nothing.
 *
 * <p>Something for a run that is not there may have come faster than the start of the run, which another shard keeps: a run
 * there has started it, and its sender has heard of it since. It may be the receiving shard itself, if it has got the
 * partition since. So the forwarder asks all shards. If one of them has the start, or does not answer, the thing stays, and so
 * does everything after it for that run but its start. If none has it, then the run has come meanwhile, or nobody has started
 * it: the forwarder applies the thing once more, and removes it.
 *
 * <p>A newer version of the library may have sent something that this one cannot read. It stays for a process of that version,
 * and so does everything after it for the same partition, because it may be for the same run.
 */
final class Forwarder {
    static final int BATCH = 500;

    private static final int MOST_NAMED = 1_000;

    private static final Logger LOG = EngineLog.of("dev.perdure.shards");
    /** Longer than a healthy shard needs, and short, because what is for other runs of the same shard waits meanwhile. */
    private static final Duration SHORT = Duration.ofSeconds(1);

    private final Shards shards;
    private final int from;
    private final int to;
    private final MovedPartitions moves;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile boolean waits;
    /** What it could not read and has named in the log. */
    private final Set<Long> named = new HashSet<>();

    Forwarder(Shards shards, int from, int to) {
        this.shards = shards;
        this.from = from;
        this.to = to;
        this.moves = new MovedPartitions(shards);
    }

    /**
     * A thing on its way, and the change that it is.
     *
     * @param number its number
     * @param change the change
     */
    private record Carried(long number, Change change) {}

    /** Whether something could be carried over soon: it is for a partition that moves, or for a run that is about to start. */
    boolean waits() {
        return waits;
    }

    /** Carries over everything that is there now. Returns how much has arrived. */
    int forward() {
        return forward(List.of(), true, shards.version());
    }

    /**
     * What stays after everything was carried over that could be.
     *
     * @param unreadable whether this version could not read some of it
     * @param parents the runs that have started others in partitions that move
     */
    record Left(boolean unreadable, Set<RunRef> parents) {}

    /** The same. Returns what stays. */
    Left forwardAll() {
        Pass pass = pass(List.of(), true, shards.version());
        return new Left(!pass.unreadable.isEmpty(), pass.parents);
    }

    /**
     * Carries over everything that is there now.
     *
     * @param first what was read of it already
     * @param more whether there may be more
     * @param version the version of the map by which that was read
     * @return how much has arrived
     */
    int forward(List<Outgoing> first, boolean more, int version) {
        return pass(first, more, version).count;
    }

    private Pass pass(List<Outgoing> first, boolean more, int version) {
        lock.lock();
        try {
            Pass pass = new Pass();
            pass.carry(first, version);
            boolean again = more;
            while (again) {
                int now = shards.version();
                List<Integer> readable = shards.partitions(shard -> shard == to).stream()
                        .filter(partition -> !pass.unreadable.contains(partition))
                        .toList();
                List<Outgoing> some = shards.exchange(from).outgoing(readable, pass.last, BATCH);
                pass.carry(some, now);
                again = some.size() == BATCH;
            }
            waits = !pass.held.isEmpty();
            return pass;
        } finally {
            lock.unlock();
        }
    }

    /** One look at everything, page by page. */
    private final class Pass {
        private final Set<RunId> held = new HashSet<>();
        private final Set<Integer> unreadable = new HashSet<>();
        private final Set<RunRef> parents = new HashSet<>();
        private final List<Long> arrived = new ArrayList<>();
        private final List<Carried> missed = new ArrayList<>();
        private final Set<RunId> absent = new HashSet<>();
        private int version;
        private boolean unsure;
        private long last;
        private int count;

        void carry(List<Outgoing> page, int readBy) {
            version = readBy;
            try {
                apply(page);
                settleMissed();
            } finally {
                if (!arrived.isEmpty()) {
                    shards.exchange(from).remove(arrived);
                    count += arrived.size();
                    arrived.clear();
                }
            }
        }

        /**
         * A batch has one change of a run, or several mails to it. What follows something that was missed is missed too, so
         * that the order stays, but for the start for which that waits.
         */
        private void apply(List<Outgoing> page) {
            List<Carried> batch = new ArrayList<>();
            Map<RunId, Boolean> takesMail = new HashMap<>();
            for (Outgoing outgoing : page) {
                last = outgoing.number();
                if (unreadable.contains(outgoing.partition())) {
                    continue;
                }
                Change change;
                try {
                    change = change(outgoing.content());
                } catch (UnreadableException unknown) {
                    unreadable.add(outgoing.partition());
                    name(last, unknown);
                    continue;
                }
                Carried carried = new Carried(outgoing.number(), change);
                if (!(change instanceof Change.Start)) {
                    if (held.contains(change.about())) {
                        continue;
                    }
                    if (absent.contains(change.about())) {
                        missed.add(carried);
                        continue;
                    }
                }
                boolean mail = change instanceof Change.Deliver;
                Boolean before = takesMail.get(change.about());
                if (before != null && !(mail && before)) {
                    apply(batch, missed);
                    batch.clear();
                    takesMail.clear();
                }
                takesMail.put(change.about(), mail || change instanceof Change.Start);
                batch.add(carried);
            }
            apply(batch, missed);
        }

        private void apply(List<Carried> batch, List<Carried> unknown) {
            if (batch.isEmpty()) {
                return;
            }
            List<Change> changes = batch.stream().map(Carried::change).toList();
            List<Outcome> outcomes = moves.apply(to, lane(to, from), changes, version);
            for (int i = 0; i < changes.size(); i++) {
                if (changes.get(i) instanceof Change.Start start) {
                    settle(start, outcomes.get(i));
                }
                if (outcomes.get(i) instanceof Outcome.Moving) {
                    held.add(changes.get(i).about());
                    if (changes.get(i) instanceof Change.Start start
                            && start.run().parent() != null) {
                        parents.add(start.run().parent().run());
                    }
                } else if (outcomes.get(i) instanceof Outcome.UnknownRun) {
                    unknown.add(batch.get(i));
                    absent.add(changes.get(i).about());
                } else {
                    arrived.add(batch.get(i).number());
                }
            }
        }

        /** Decides about what is for runs that are not there. */
        private void settleMissed() {
            if (missed.isEmpty()) {
                return;
            }
            Set<RunId> runs = missed.stream().map(each -> each.change().about()).collect(Collectors.toSet());
            held.addAll(unsure ? runs : starting(runs));
            List<Carried> unknown = new ArrayList<>();
            for (Carried each : missed) {
                if (!held.contains(each.change().about())) {
                    apply(List.of(each), unknown);
                }
            }
            unknown.stream()
                    .filter(each ->
                            shards.has(to, each.change().about())) // Others have gone to another shard meanwhile.
                    .forEach(each -> {
                        if (each.change() instanceof Change.Retell retell) {
                            settle(retell);
                        }
                        arrived.add(each.number());
                    });
            missed.clear();
            absent.clear();
        }

        /** The runs among these whose start a shard keeps; all of them if one does not answer. */
        private Set<RunId> starting(Set<RunId> runs) {
            try {
                return shards.ask(shards.indexes(), SHORT, shard -> startsOnTheirWay(shard, runs)).stream()
                        .flatMap(Set::stream)
                        .collect(Collectors.toSet());
            } catch (StoreException silent) {
                unsure = true;
                LOG.debug("Whether runs of shard {} are about to be started is not known.", shards.name(to), silent);
                return runs;
            }
        }
    }

    private Set<RunId> startsOnTheirWay(int shard, Set<RunId> runs) {
        Set<Integer> partitions = runs.stream().map(Partitions::of).collect(Collectors.toSet());
        Set<RunId> starting = new HashSet<>();
        long after = 0;
        while (true) {
            List<Outgoing> page = shards.exchange(shard).outgoing(partitions, after, BATCH);
            for (Outgoing each : page) {
                after = each.number();
                try {
                    if (change(each.content()) instanceof Change.Start start) {
                        starting.add(start.run().id());
                        start.tasks().forEach(task -> starting.add(task.run().id()));
                    }
                } catch (UnreadableException mayBeStart) {
                    runs.stream()
                            .filter(run -> Partitions.of(run) == each.partition())
                            .forEach(starting::add);
                }
            }
            if (page.size() < BATCH) {
                starting.retainAll(runs);
                return starting;
            }
        }
    }

    private static Change change(Content content) throws UnreadableException {
        return switch (content) {
            case Content.Sent sent -> SentChange.read(sent.change(), sent.value(), sent.life());
            case Content.Told told -> new Change.Deliver(told.to(), told.mail(), told.life());
        };
    }

    private void name(long number, UnreadableException unknown) {
        if (named.size() < MOST_NAMED && named.add(number)) {
            LOG.error(
                    "Shard '{}' has sent something to shard '{}' that this version cannot read: number {}. {} It stays for a process that can read it, and so does what was sent to its partition after it. If there is none, update this one.",
                    shards.name(from),
                    shards.name(to),
                    number,
                    unknown.getMessage());
        }
    }

    /** The committers of clients use the lower numbers, and each forwarder into a shard has one of its own. */
    private Lane lane(int shard, int number) {
        return Lane.client(shards.store(shard).lanes() + number);
    }

    /** Whether the run that has the id is the one that was to be started: it has begun anew since an earlier copy came. */
    private boolean isOwn(NewRun run) {
        return run.parent() != null && shards.exchange(to).parent(run.id()).equals(Optional.of(run.parent()));
    }

    /** A parent that waits for a run that could not be started gets that as its failure. */
    private void settle(Change.Start start, Outcome outcome) {
        NewRun run = start.run();
        String problem = switch (outcome) {
            case Outcome.Existing existing when isOwn(run) -> "";
            case Outcome.Existing existing -> "The run id '%s' is taken.".formatted(run.id());
            case Outcome.Refused refused -> refused.reason();
            default -> "";
        };
        if (problem.isEmpty()) {
            return;
        }
        Parent parent = run.parent();
        if (parent == null || !parent.answers()) {
            LOG.error(
                    "Run '{}', which a run of shard '{}' started, was not started. {}",
                    run.id(),
                    shards.name(from),
                    problem);
            return;
        }
        Mail mail = parent.isReport()
                ? EndReport.taken(run.id(), run.seed())
                : Mail.failure(
                        Channel.answer(parent.position()),
                        new UUID(run.seed(), parent.position()),
                        problem,
                        Payload.EMPTY);
        int life = parent.isReport() ? Change.Deliver.ANY_LIFE : parent.life();
        tell(parent, mail, life);
    }

    /** A run whose child was removed before it was asked for its outcome gets that as its failure. */
    private void settle(Change.Retell retell) {
        Parent caller = retell.caller();
        UUID token = UUID.nameUUIDFromBytes("%s\n%s\n%s"
                .formatted(retell.run(), caller.run().key(), caller.position())
                .getBytes(StandardCharsets.UTF_8));
        String problem = "The run '%s' was removed before '%s' was retried."
                .formatted(retell.run(), caller.run().id());
        tell(caller, Mail.failure(Channel.answer(caller.position()), token, problem, Payload.EMPTY), caller.life());
    }

    private void tell(Parent parent, Mail mail, int life) {
        shards.store(from)
                .ledger()
                .apply(
                        lane(from, shards.size() + to),
                        List.of(new Change.Deliver(parent.run().id(), mail, life)));
    }
}
