package dev.perdure.spi.shard;

import dev.perdure.RunState;
import dev.perdure.spi.change.CallCycle;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.RunRef;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which runs of a shard other runs wait for, so that calls of virtual objects that wait for each other in a cycle over
 * several shards are found. A call that waits for its turn waits for the run that holds the object, which is on the same
 * shard. Every other run waits for the runs that it has called, which may be on any shard.
 */
public interface CallWaits {
    /**
     * A life of a run: how often it has begun anew.
     *
     * @param key the key of the run
     * @param life the number of its life
     */
    record Life(long key, int life) {}

    /**
     * A run here that has not ended and for which another one waits.
     *
     * @param run the run
     * @param life its present life
     * @param state its state
     * @param definition the name of its definition
     * @param object the virtual object that it calls, or null
     * @param seen when it was created and when it entered its state
     */
    record AwaitedRun(
            RunRef run,
            int life,
            RunState state,
            String definition,
            @Nullable ObjectKey object,
            Change.Seen seen) {
        /** The run in its present life. */
        public Life in() {
            return new Life(run.key(), life);
        }

        /** The run as the message of a refused call names it. */
        public CallCycle.Member member() {
            return new CallCycle.Member(run.id(), definition, object);
        }
    }

    /**
     * A run that waits for another one. The same wait, read twice, has stood all the time between.
     *
     * @param by the run that waits, which may be on another shard
     * @param reason why it waits
     * @param on the run here for which it waits
     */
    record Wait(Life by, Reason reason, AwaitedRun on) {}

    /** Why a run waits. */
    enum Reason {
        /** It waits for its turn, and the other one holds the object. */
        TURN,
        /** It has called the other one, and both were on this shard then. */
        CALL,
        /** It has called the other one from another shard. */
        CALL_ACROSS
    }

    /**
     * The keys of runs here, in ascending order, that hold an object for which a call has waited for a second or longer
     * for whose result a run waits.
     *
     * @param after the key after which to begin
     * @param limit how many at most
     */
    List<Long> holders(long after, int limit);

    /** The runs here for which these wait. Those that wait may be on any shard. */
    List<Wait> of(Collection<Long> waiting);
}
