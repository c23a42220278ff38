package dev.perdure.shards;

import dev.perdure.RunId;
import dev.perdure.error.StoreException;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.EndReport;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.shard.Exchange.Content;
import dev.perdure.spi.shard.Exchange.Outgoing;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries what is on its way from one shard to the others.
 *
 * <p>How it works. It reads what the shard keeps, by number, applies it to the shards that it is for, and removes it. A crash
 * between any two of these leaves it where it was, and it is carried over once more: a mail has its token, a start its seed,
 * and a second cancel changes nothing. Several processes may do this at the same time. Each begins with the oldest, so
 * what one run has sent to another is first applied in the order in which it was sent, whoever applies it; after that, the
 * copies of others change nothing. What is for a shard that is out of reach stays, and delays nothing else.
 */
final class Forwarder {
    private static final Logger LOG = LoggerFactory.getLogger("dev.perdure.shards");
    private static final int BATCH = 500;

    private final Shards shards;
    private final int from;
    private final MovedPartitions moves;
    private final ReentrantLock lock = new ReentrantLock();

    Forwarder(Shards shards, int from) {
        this.shards = shards;
        this.from = from;
        this.moves = new MovedPartitions(shards);
    }

    /**
     * A thing on its way, and the change that it is.
     *
     * @param number its number
     * @param change the change
     */
    private record Carried(long number, Change change) {}

    /**
     * Carries over everything that is there now.
     *
     * @param silent shards that did not answer recently; adds those that do not answer now
     * @return how much has arrived
     */
    int forward(Set<Integer> silent) {
        lock.lock();
        try {
            int arrived = 0;
            while (true) {
                List<Integer> partitions = shards.partitions(shard -> !silent.contains(shard));
                List<Outgoing> some = shards.exchange(from).outgoing(partitions, BATCH);
                int now = some.isEmpty() ? 0 : carry(some, silent);
                arrived += now;
                if (some.size() < BATCH || now == 0) {
                    return arrived;
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private int carry(List<Outgoing> some, Set<Integer> silent) {
        List<Long> arrived = new ArrayList<>();
        shards.divide(some, each -> shards.ofPartition(each.partition())).forEach((to, each) -> {
            try {
                List<Carried> batch = new ArrayList<>();
                Map<RunId, Boolean> takesMail = new HashMap<>();
                for (Outgoing outgoing : each) {
                    Change change = change(outgoing.content());
                    boolean mail = change instanceof Change.Deliver;
                    Boolean before = takesMail.get(change.about());
                    if (before != null && !(mail && before)) {
                        apply(to, batch);
                        batch.forEach(carried -> arrived.add(carried.number()));
                        batch.clear();
                        takesMail.clear();
                    }
                    takesMail.put(change.about(), mail || change instanceof Change.Start);
                    batch.add(new Carried(outgoing.number(), change));
                }
                apply(to, batch);
                batch.forEach(carried -> arrived.add(carried.number()));
            } catch (StoreException trouble) {
                silent.add(to);
                LOG.debug("Shard {} does not answer; what is on its way to it waits.", shards.name(to), trouble);
            } catch (RuntimeException unreadable) { // What goes to other shards must not wait for it.
                silent.add(to);
                LOG.error("What is on its way to shard {} cannot be carried over.", shards.name(to), unreadable);
            }
        });
        if (!arrived.isEmpty()) {
            shards.exchange(from).remove(arrived);
        }
        return arrived.size();
    }

    private static Change change(Content content) {
        return switch (content) {
            case Content.Sent sent -> SentChange.read(sent.change(), sent.value(), sent.life());
            case Content.Told told -> new Change.Deliver(told.to(), told.mail(), told.life());
        };
    }

    private void apply(int to, List<Carried> batch) {
        if (batch.isEmpty()) {
            return;
        }
        List<Change> changes = batch.stream().map(Carried::change).toList();
        List<Outcome> outcomes = moves.apply(to, lane(to), changes);
        for (int i = 0; i < changes.size(); i++) {
            if (changes.get(i) instanceof Change.Start start) {
                settle(to, start, outcomes.get(i));
            }
        }
    }

    /** The committers of clients use the lower numbers. */
    private Lane lane(int to) {
        return Lane.client(shards.store(to).lanes() + from);
    }

    /** Whether the run that has the id is the one that was to be started: it has begun anew since an earlier copy came. */
    private boolean isOwn(int to, NewRun run) {
        return run.parent() != null && shards.exchange(to).parent(run.id()).equals(Optional.of(run.parent()));
    }

    /** A parent that waits for a run that could not be started gets that as its failure. */
    private void settle(int to, Change.Start start, Outcome outcome) {
        NewRun run = start.run();
        String problem = switch (outcome) {
            case Outcome.Existing existing when isOwn(to, run) -> "";
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
        shards.store(from)
                .ledger()
                .apply(
                        Lane.client(shards.store(from).lanes() + from),
                        List.of(new Change.Deliver(parent.run().id(), mail, life)));
    }
}
