package dev.perdure.spi.change;

import dev.perdure.RunId;
import dev.perdure.StartKey;
import dev.perdure.queue.Placement;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The conditions under which a run is started and begins. Most runs have none.
 *
 * @param startWithin the time within which it has to begin, from its start or from the end of its delay; or null
 * @param weight how many units of the rate of its queue it takes when it begins, at least 1; or {@link #NOTHING}
 * @param startKey the key that decides whether the run is started; or null
 * @param unanswered whether no caller gets the answer. If the key gives such a start to another run, or the key of its
 *     queue is full and the queue refuses it, the store inserts the run all the same, cancelled, with the reason
 * @param placement which workers may run it
 * @param refusal why the run is inserted cancelled, with this as its reason; or null. Its request was accepted before it
 *     could be checked, so no caller gets an exception
 */
public record Admission(
        @Nullable Duration startWithin,
        int weight,
        @Nullable StartKey startKey,
        boolean unanswered,
        Placement placement,
        @Nullable String refusal) {
    /**
     * The weight of a run that only waits for others, such as a task for each item: it takes no unit of the rate of its
     * queue and no place in it, so that the others find one.
     */
    public static final int NOTHING = 0;

    /** No conditions. */
    public static final Admission UNCONDITIONAL = new Admission(null);

    /** Without a refusal. */
    public Admission(
            @Nullable Duration startWithin,
            int weight,
            @Nullable StartKey startKey,
            boolean unanswered,
            Placement placement) {
        this(startWithin, weight, startKey, unanswered, placement, null);
    }

    /** Of a run that is not to begin. */
    public static Admission refused(String reason) {
        return new Admission(null, 1, null, true, Placement.ANYWHERE, reason);
    }

    /** With the weight of one, and without a key. */
    public Admission(@Nullable Duration startWithin) {
        this(startWithin, 1);
    }

    /** Without a key. */
    public Admission(@Nullable Duration startWithin, int weight) {
        this(startWithin, weight, null, false, Placement.ANYWHERE);
    }

    /** The same under a key. */
    public Admission withKey(@Nullable StartKey key, boolean withoutCaller) {
        return new Admission(startWithin, weight, key, withoutCaller, placement, refusal);
    }

    /** The same without the key. */
    public Admission withoutKey() {
        return new Admission(startWithin, weight, null, unanswered, placement, refusal);
    }

    /** The same with this weight. */
    public Admission weighing(int units) {
        return new Admission(startWithin, units, startKey, unanswered, placement, refusal);
    }

    /** The same with this time within which the run has to begin. */
    public Admission beginningWithin(@Nullable Duration limit) {
        return new Admission(limit, weight, startKey, unanswered, placement, refusal);
    }

    /** The same on other workers. */
    public Admission at(Placement other) {
        return new Admission(startWithin, weight, startKey, unanswered, other, refusal);
    }

    /** The reason of a run whose request was accepted before it could be checked. */
    public static String refusedAfterwards(String why) {
        return "The start was accepted in a transaction or from SQL, and cannot be carried out: %s".formatted(why);
    }

    /**
     * The reason of a run that did not begin in time.
     *
     * @param within the time within which it had to begin
     * @param queue its queue
     */
    public static String expired(Duration within, String queue) {
        return "The run did not begin within %s in the queue '%s'. Add workers for the queue, or start the run with a longer startWithin."
                .formatted(within, queue);
    }

    /** The reason of a run that another one under its key replaces. */
    public static String replaced(StartKey key, RunId by) {
        return "Replaced by run '%s', which was started under the same key '%s'.".formatted(by, key.key());
    }

    /** The reason of a run that waits until the one that it replaces has ended. */
    public static String replaces(RunId before) {
        return "Begins when run '%s', which it replaces, has ended.".formatted(before);
    }

    /** The reason of a run that was not to be started, because another one has its key. */
    public static String given(StartKey key, RunId holder) {
        return switch (key) {
            case StartKey.Debounce debounce ->
                "Debounced: run '%s' has the key '%s' and takes its input.".formatted(holder, key.key());
            case StartKey.Deduplication deduplication ->
                "A duplicate: run '%s' has the key '%s'.".formatted(holder, key.key());
            case StartKey.IdempotencyKey idempotency ->
                "A duplicate: run '%s' has the idempotency key '%s'.".formatted(holder, key.key());
        };
    }
}
