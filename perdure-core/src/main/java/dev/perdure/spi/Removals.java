package dev.perdure.spi;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.retention.Retention;
import dev.perdure.retention.RetentionInfo;
import dev.perdure.spi.change.Change;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Removes runs that have ended and whose period of retention is over. Any worker asks for it; the store lets one of
 * them work at a time.
 */
public interface Removals {
    /**
     * For how long what recognises a second copy is kept at least: the token of a message, from its arrival, and a run
     * that was started without an answer, from its start. A process that stopped for a while may send such a copy late.
     */
    Duration COPIES = Duration.ofHours(1);

    /** So many of the last changes of state of a run that lives on are kept when it begins another life. */
    int CHANGES_KEPT = 1_000;

    /** How long to rest between two looks at all old runs: a twentieth of the shortest period, at least 50 ms. */
    static Duration rest(Retention retention) {
        Duration shortest = Duration.ofMillis(50);
        Duration rest = retention.shortest().dividedBy(20);
        return rest.compareTo(shortest) < 0 ? shortest : rest;
    }

    /**
     * What a batch has done.
     *
     * @param runs how many runs it has removed
     * @param again how long to wait before the next batch, in real time; zero if more is due
     */
    record Removed(int runs, Duration again) {}

    /** Stores what the code declares. What an operator has changed stays in effect. */
    void declare(Retention retention);

    /** Puts this in the place of what the code declares, or takes it back; with an audit entry, if one is given. */
    void change(@Nullable Retention retention, @Nullable Audit audit);

    /** The same without an entry in the audit. */
    default void change(@Nullable Retention retention) {
        change(retention, null);
    }

    /** What is in effect, and how far the workers are with it. */
    RetentionInfo info();

    /**
     * Removes old entries of the audit, and a batch of runs with everything that belongs to them. A run that is removed in pieces is not there any
     * more for those that would let it continue. A run stays while its parent does, and a parent while its children and
     * tasks do; they go together, the parent last.
     *
     * @param limit the number of runs to look at, at most
     */
    Removed remove(int limit);

    /**
     * Deletes a run that has ended, with its children and tasks and everything that belongs to them, however young it
     * is. Its id is free afterwards. It is refused as {@link #refusal} says, and if a run below it has not ended or is
     * named by a start key. A run that is there although the audit has the entry is another one, which has got the id
     * since: then the run is unknown. So is one that was created, or entered its state, at another time than the one
     * that the sender saw.
     *
     * @param seen the run as the sender saw it
     * @param audit the audit entry
     * @return {@link Outcome.Applied}, {@link Outcome.Refused} or {@link Outcome.UnknownRun}
     */
    Outcome delete(RunId run, Change.Seen seen, Audit audit);

    /**
     * What keeps a run that has ended.
     *
     * @param parent the run to which it belongs, if that is there
     * @param named whether a start key names it
     * @param copied whether a second copy of the request that started it may still arrive
     */
    record Holders(@Nullable String parent, boolean named, boolean copied) {}

    /** For stores: why a run cannot be deleted, or null. */
    static @Nullable String refusal(RunId run, RunState state, Holders holders) {
        if (!state.isTerminal()) {
            return "The run '%s' is %s. Only a run that has ended is deleted. Cancel or kill it first."
                    .formatted(run, state);
        }
        if (holders.parent() != null) {
            return "The run '%s' belongs to the run '%s', and goes with it. Delete that one."
                    .formatted(run, holders.parent());
        }
        if (holders.named()) {
            return "A start key names the run '%s', so that a repeated start finds it. Delete it when the key is free."
                    .formatted(run);
        }
        return holders.copied()
                ? "The run '%s' was started without an answer less than %s ago, and a second copy of the request may arrive. Delete it later."
                        .formatted(run, COPIES)
                : null;
    }

    /** For stores: the refusal if a run below it is kept. */
    static String livesBelow(RunId run) {
        return "A run below '%s' has not ended, or a start key names it. Cancel or kill what has not ended first."
                .formatted(run);
    }
}
