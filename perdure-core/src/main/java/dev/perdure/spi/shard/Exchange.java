package dev.perdure.spi.shard;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToIntFunction;

/**
 * What a store keeps so that it can be one of several shards: which one it is, and what is on its way to the others.
 *
 * <p>A transition that does something to a run of another shard keeps it here by {@link Effect.Send}, in its own transaction.
 * A run whose parent {@link Parent#isElsewhere() is elsewhere} keeps its outcome here, or its report, in the transaction in
 * which it ends, in whatever way. Whoever carries these things over applies them first and removes them afterwards, so they
 * may be applied twice: changes are idempotent.
 */
public interface Exchange {
    /**
     * The name of a shard and the map that it works with.
     *
     * @param name the name
     * @param map the map
     */
    record Membership(String name, ShardMap map) {}

    /** The membership that was stored here; empty if this store has always been alone. */
    Optional<Membership> membership();

    /** The map of this store if it is newer than this version. Workers need it to keep their leases, so it waits for no other call. */
    Optional<ShardMap> newerMap(int version);

    /** Stores a first membership, unless there is one, and returns the one that is there then. */
    Membership join(Membership first);

    /**
     * The partitions in which this store takes no changes, because they are on their way to or from another store or have
     * left. A change of such a partition is not applied: {@link dev.perdure.error.StoreException} says so.
     */
    Set<Integer> closed();

    /**
     * Something that is on its way.
     *
     * @param number its place: what one run has sent has ascending numbers, in the order in which the run sent it
     * @param partition the partition of the run that it is for
     * @param content what it is
     */
    record Outgoing(long number, int partition, Content content) {}

    /** What is on its way. */
    sealed interface Content {
        /**
         * A change that a transition sent.
         *
         * @param change the change without its value, as it was sent
         * @param value its value
         * @param life the life of the run that sent it
         */
        record Sent(Payload change, Payload value, int life) implements Content {}

        /**
         * The outcome or the report of a run that has ended.
         *
         * @param to the run that gets it
         * @param mail the mail
         * @param life the life of that run, or {@link Change.Deliver#ANY_LIFE}
         */
        record Told(RunId to, Mail mail, int life) implements Content {}
    }

    /**
     * What a look at a store shows.
     *
     * @param version the version of its map; 0 if it has always been alone
     * @param outgoing what is on its way, by number
     * @param permitsAreAwaited whether attempts wait for permits of limiters that are divided among shards
     */
    record Look(int version, List<Outgoing> outgoing, boolean permitsAreAwaited) {
        /** A look at a store in which no attempt waits. */
        public Look(int version, List<Outgoing> outgoing) {
            this(version, outgoing, false);
        }
    }

    /**
     * What is on its way to runs of these partitions from the oldest on, and the version of the map, in one request: every
     * process asks for both from time to time.
     *
     * @param limit how many things at most
     */
    Look look(Collection<Integer> partitions, int limit);

    /**
     * What is on its way to runs of these partitions, by number.
     *
     * @param after the number after which to begin; 0 for the oldest
     * @param limit how many at most
     */
    List<Outgoing> outgoing(Collection<Integer> partitions, long after, int limit);

    /** Removes what has arrived. Numbers that are not there have no effect. */
    void remove(Collection<Long> numbers);

    /**
     * How changes reach the runs of all shards.
     *
     * @param own the number of the shard that is told
     * @param shard the number of the shard that has the run with this id
     * @param ledger applies changes of runs of any shard
     */
    record Route(int own, ToIntFunction<RunId> shard, Ledger ledger) {}

    /**
     * From now on, requests that callers made here in their own transactions take this route, because their runs may be on
     * other shards. A store that has no such requests ignores it.
     */
    default void follow(Route route) {}

    /** The parent of a run, if that is on another shard. */
    Optional<Parent> parent(RunId run);

    /**
     * A run as a kill of a run above it meets it.
     *
     * @param run the run
     * @param life its present life: how often it has begun anew
     * @param state its state
     */
    record Lived(RunRef run, int life, RunState state) {}

    /**
     * Those of these runs that are here, and the runs below them here that have not ended, or that were cancelled and so may
     * have left children behind. Goes on below cancelled runs, and not below others. Runs that only report are not below.
     */
    List<Lived> below(Collection<RunRef> runs);

    /**
     * The runs here that have not ended or were cancelled, and whose parents are these runs of other shards in these
     * lives, without those that only report.
     */
    List<Lived> children(Collection<Lived> parents);

    /** Lists of what runs of other shards have started here. */
    Links links();

    /** What this shard has of the limits of all shards. */
    Places places();

    /** Which runs here others wait for. */
    CallWaits waits();
}
