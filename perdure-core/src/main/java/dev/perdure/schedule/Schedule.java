package dev.perdure.schedule;

import dev.perdure.Invocation;
import dev.perdure.StartOptions;
import dev.perdure.WorkflowMethod;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.text.Instants;
import dev.perdure.internal.text.Names;
import dev.perdure.internal.text.Reserved;
import dev.perdure.internal.text.Texts;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What to run, and when. Immutable. Declare it when you set up the engine, or make it at run time with
 * {@link Schedules#put}.
 *
 * <pre>{@code
 * Schedule.cron("nightly-report", "0 2 * * *", ZoneId.of("Europe/Berlin"), Reports::nightly, input)
 * }</pre>
 *
 * <p>There is one run for each fire time, with the id {@code nightly-report@2030-01-01T01:00:00Z}. It is a run like any
 * other, and gets the fire time with {@link Fire#of}. A second one is never started, whatever crashes.
 */
@SuppressWarnings("overloads") // an exact method reference fits one of them only
public final class Schedule {
    /** The longest name, in characters. */
    public static final int MAX_NAME_LENGTH = 80;

    private static final Duration LONGEST_JITTER = Duration.ofDays(1);

    private final String name;
    private final Times times;
    private final Invocation<?> invocation;
    private final StartOptions options;
    private final Overlap overlap;
    private final CatchUp catchUp;
    private final @Nullable Instant from;
    private final @Nullable Instant until;
    private final int limit;
    private final Duration jitter;
    private final int pauseAfter;
    private final @Nullable Invocation<?> reaction;

    /** The schedule while something of it is being changed. */
    private static final class Draft {
        private final String name;
        private Times times;
        private Invocation<?> invocation;
        private StartOptions options = StartOptions.defaults();
        private Overlap overlap = Overlap.SKIP;
        private CatchUp catchUp = CatchUp.last();
        private @Nullable Instant from;
        private @Nullable Instant until;
        private int limit;
        private Duration jitter = Duration.ZERO;
        private int pauseAfter;
        private @Nullable Invocation<?> reaction;

        Draft(String name, Times times, Invocation<?> invocation) {
            this.name = name;
            this.times = times;
            this.invocation = invocation;
        }
    }

    private Schedule(Draft draft) {
        this.name = Names.require("schedule name", draft.name, MAX_NAME_LENGTH);
        Reserved.requireFreeId("schedule name", name);
        this.times = draft.times;
        this.invocation = draft.invocation;
        this.options = draft.options;
        this.overlap = draft.overlap;
        this.catchUp = draft.catchUp;
        this.from = draft.from;
        this.until = draft.until;
        this.limit = draft.limit;
        this.jitter = draft.jitter;
        this.pauseAfter = draft.pauseAfter;
        this.reaction = draft.reaction;
        require(
                from == null || until == null || !until.isBefore(from),
                "it ends at " + until + " and begins at " + from);
        Reserved.requireFreeQueue(options.queue());
        require(options.id().isEmpty(), "its options have a run id; the fire time makes the id");
        require(options.delay().isEmpty(), "its options have a delay; give it other times, or a jitter");
        require(options.startKey().isEmpty(), "its options have a start key; choose an overlap instead");
        require(options.messages().isEmpty(), "its options have a message; put the value into the input");
    }

    private void require(boolean holds, String why) {
        if (!holds) {
            throw new InvalidRequestException("The schedule '%s' cannot be used: %s.".formatted(name, why));
        }
    }

    /** Runs a workflow method with an input and a result at the times of a cron expression: see {@link Times#cron}. */
    public static <W, I extends @Nullable Object, R extends @Nullable Object> Schedule cron(
            String name, String expression, ZoneId zone, WorkflowMethod.Function<W, I, R> method, I input) {
        Texts.requireGiven("workflow", method);
        return of(name, Times.cron(expression, zone), Invocation.of(method, input));
    }

    /** Runs a workflow method with an input and no result at the times of a cron expression: see {@link Times#cron}. */
    public static <W, I extends @Nullable Object> Schedule cron(
            String name, String expression, ZoneId zone, WorkflowMethod.Consumer<W, I> method, I input) {
        Texts.requireGiven("workflow", method);
        return of(name, Times.cron(expression, zone), Invocation.of(method, input));
    }

    /** Runs any workflow or DAG at the times of a cron expression: see {@link Times#cron}. */
    public static Schedule cron(String name, String expression, ZoneId zone, Invocation<?> invocation) {
        return of(name, Times.cron(expression, zone), invocation);
    }

    /** Runs any workflow or DAG at these times. */
    public static Schedule of(String name, Times times, Invocation<?> invocation) {
        Texts.requireGiven("invocation", invocation);
        Texts.requireGiven("times", times);
        return new Schedule(new Draft(name, times, invocation));
    }

    private Schedule with(Consumer<Draft> change) {
        Draft draft = new Draft(name, times, invocation);
        draft.options = options;
        draft.overlap = overlap;
        draft.catchUp = catchUp;
        draft.from = from;
        draft.until = until;
        draft.limit = limit;
        draft.jitter = jitter;
        draft.pauseAfter = pauseAfter;
        draft.reaction = reaction;
        change.accept(draft);
        return new Schedule(draft);
    }

    /**
     * How the runs are started: queue, priority, key, weight, timeout, version, attributes, time to start within,
     * labels of workers.
     */
    public Schedule options(StartOptions startOptions) {
        Texts.requireGiven("options", startOptions);
        return with(draft -> draft.options = startOptions);
    }

    /** What happens if a run has not ended at the next fire time. {@link Overlap#SKIP} by default. */
    public Schedule overlap(Overlap policy) {
        Texts.requireGiven("overlap", policy);
        return with(draft -> draft.overlap = policy);
    }

    /** What happens with fire times that have passed while no worker was there. {@link CatchUp#last()} by default. */
    public Schedule catchUp(CatchUp policy) {
        Texts.requireGiven("catch-up", policy);
        return with(draft -> draft.catchUp = policy);
    }

    /** Fires at this time at the earliest. */
    public Schedule from(Instant earliest) {
        Instants.require("time from which it fires", earliest);
        return with(draft -> draft.from = earliest);
    }

    /** Fires at this time at the latest. */
    public Schedule until(Instant latest) {
        Texts.requireGiven("time until which it fires", latest);
        return with(draft -> draft.until = latest);
    }

    /** Fires this many times. Triggers and backfills do not count. */
    public Schedule limit(int fires) {
        if (fires < 1) {
            throw new InvalidRequestException(
                    "The schedule '%s' is to fire %s times; it is at least 1.".formatted(name, fires));
        }
        return with(draft -> draft.limit = fires);
    }

    /**
     * Fires later by up to this much, so that schedules with the same times do not all fire at once. By how much is
     * fixed for each name. The fire time that is part of the run's id stays as it is.
     */
    public Schedule jitter(Duration most) {
        Texts.requireGiven("jitter", most);
        if (most.isNegative() || most.compareTo(LONGEST_JITTER) > 0) {
            throw new InvalidRequestException(
                    "The jitter of the schedule '%s' is %s; it is at least zero and at most a day."
                            .formatted(name, most));
        }
        return with(draft -> draft.jitter = most);
    }

    /** Pauses the schedule when this many of its runs have failed one after another. */
    public Schedule pauseAfter(int failures) {
        if (failures < 1) {
            throw new InvalidRequestException(
                    "The schedule '%s' is to pause after %s failures; it is at least 1.".formatted(name, failures));
        }
        return with(draft -> draft.pauseAfter = failures);
    }

    /** Pauses the schedule when this many of its runs have failed one after another, and starts this run then. */
    public Schedule pauseAfter(int failures, Invocation<?> whenPaused) {
        Texts.requireGiven("invocation", whenPaused);
        return pauseAfter(failures).with(draft -> draft.reaction = whenPaused);
    }

    /** Its name. */
    public String name() {
        return name;
    }

    /** When it fires. */
    public Times times() {
        return times;
    }

    /** What it runs. */
    public Invocation<?> invocation() {
        return invocation;
    }

    /** How the runs are started. */
    public StartOptions options() {
        return options;
    }

    /** What happens if a run has not ended at the next fire time. */
    public Overlap overlap() {
        return overlap;
    }

    /** What happens with fire times that have passed while no worker was there. */
    public CatchUp catchUp() {
        return catchUp;
    }

    /** When it fires at the earliest, if that is limited. */
    public Optional<Instant> from() {
        return Optional.ofNullable(from);
    }

    /** When it fires at the latest, if that is limited. */
    public Optional<Instant> until() {
        return Optional.ofNullable(until);
    }

    /** How often it fires, if that is limited. */
    public OptionalInt limit() {
        return limit == 0 ? OptionalInt.empty() : OptionalInt.of(limit);
    }

    /** By how much it fires later at most. */
    public Duration jitter() {
        return jitter;
    }

    /** After how many failures one after another it is paused, if it is. */
    public OptionalInt pauseAfter() {
        return pauseAfter == 0 ? OptionalInt.empty() : OptionalInt.of(pauseAfter);
    }

    /** What is started when it is paused because of failures, if anything is. */
    public Optional<Invocation<?>> whenPaused() {
        return Optional.ofNullable(reaction);
    }

    @Override
    public String toString() {
        return "schedule '%s'".formatted(name);
    }
}
