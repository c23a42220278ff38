package dev.perdure.reaction;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.StartOptions;
import dev.perdure.WorkflowMethod;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.text.Names;
import dev.perdure.internal.text.Reserved;
import dev.perdure.internal.text.Texts;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Starts a workflow when something happens to a run: once for each time, in the transaction in which the run fails, is
 * paused or cancelled, or is found late. So an alert or a dead letter is never lost, whatever crashes.
 *
 * <pre>{@code
 * Perdure.on(store)
 *         .register(new Orders(payments), new Alerts(pager))
 *         .reactions(Reaction.named("alert")
 *                 .of("order")
 *                 .when(Occasion.FAILED, Occasion.PAUSED)
 *                 .late(Duration.ofHours(1))
 *                 .start(Alerts::raise))
 *         .start();
 * }</pre>
 *
 * <p>The workflow gets a {@link RunEvent}. Its run is a run like every other: it is retried, survives crashes and is
 * listed, under an id that begins with {@value #ID_PREFIX}. What happens to runs under such ids, and to their children,
 * is no occasion for a reaction; so reactions do not cause each other.
 *
 * <p>Immutable: each method returns another value.
 */
@SuppressWarnings("overloads") // an exact method reference fits one of them only
public final class Reaction {
    /** How the ids of runs begin that reactions start. */
    public static final String ID_PREFIX = Reserved.REACTION;

    /** The longest name of a reaction, in characters. */
    public static final int MAX_NAME_LENGTH = 60;

    private static final int MAX_QUEUE_LENGTH = 100;
    private static final Duration SHORTEST = Duration.ofSeconds(1);
    private static final Duration LONGEST = Duration.ofDays(3_650);

    private final String name;
    private final Set<Occasion> occasions;
    private final @Nullable Duration late;
    private final Set<String> definitions;
    private final String queue;
    private final @Nullable Invocation<?> starts;

    /** The values of a reaction that is being made. */
    private static final class Draft {
        private final Set<Occasion> occasions = EnumSet.noneOf(Occasion.class);
        private @Nullable Duration late;
        private final Set<String> definitions = new TreeSet<>();
        private String queue = StartOptions.DEFAULT_QUEUE;
        private @Nullable Invocation<?> starts;
    }

    private Reaction(String name, Draft draft) {
        this.name = name;
        this.occasions = Collections.unmodifiableSet(draft.occasions);
        this.late = draft.late;
        this.definitions = Collections.unmodifiableSet(draft.definitions);
        this.queue = draft.queue;
        this.starts = draft.starts;
    }

    /**
     * A reaction that does nothing yet.
     *
     * @param name its name: the key under which all processes know it, at most {@value #MAX_NAME_LENGTH} characters
     */
    public static Reaction named(String name) {
        return new Reaction(Names.require("name of the reaction", name, MAX_NAME_LENGTH), new Draft());
    }

    private Reaction with(Consumer<Draft> change) {
        Draft draft = new Draft();
        draft.occasions.addAll(occasions);
        draft.late = late;
        draft.definitions.addAll(definitions);
        draft.queue = queue;
        draft.starts = starts;
        change.accept(draft);
        return new Reaction(name, draft);
    }

    /**
     * Only for runs of these definitions. Without it, for all runs but those of the engine itself, such as schedules:
     * also for children, tasks of DAGs and calls of virtual objects.
     */
    public Reaction of(String... names) {
        Texts.requireGiven("list of definitions", names);
        for (String each : names) {
            Names.require("definition name", each, Definition.MAX_NAME_LENGTH);
        }
        return with(next -> next.definitions.addAll(List.of(names)));
    }

    /** When a run enters one of these states. For late runs, see {@link #late}. */
    public Reaction when(Occasion... each) {
        Texts.requireGiven("list of occasions", each);
        for (Occasion occasion : each) {
            Texts.requireGiven("occasion", occasion);
            if (occasion == Occasion.LATE) {
                throw new InvalidRequestException(
                        "The reaction '%s' lacks the time after which a run is late. Write late(Duration) instead of when(LATE)."
                                .formatted(name));
            }
        }
        return with(next -> next.occasions.addAll(List.of(each)));
    }

    /**
     * When a run has not ended this long after it was started: once for each run. A delay of the start counts, and a
     * run that waits or is paused is late too. Runs that were started before the reaction was declared count if they
     * are not late then.
     *
     * @param after how long, at least a second
     */
    public Reaction late(Duration after) {
        Texts.requireGiven("duration", after);
        if (after.compareTo(SHORTEST) < 0 || after.compareTo(LONGEST) > 0) {
            throw new InvalidRequestException(
                    "The reaction '%s' calls runs late after %s. Give it a second to ten years."
                            .formatted(name, after));
        }
        return with(next -> {
            next.occasions.add(Occasion.LATE);
            next.late = after;
        });
    }

    /** The queue of the runs that it starts. {@value StartOptions#DEFAULT_QUEUE} by default. */
    public Reaction queue(String queueName) {
        String checked = Names.require("queue", queueName, MAX_QUEUE_LENGTH);
        Reserved.requireFreeQueue(checked);
        return with(next -> next.queue = checked);
    }

    /** Starts this workflow method, which returns nothing. */
    public <W> Reaction start(WorkflowMethod.Consumer<W, RunEvent> method) {
        Texts.requireGiven("workflow", method);
        return with(next -> next.starts = new Invocation.OfMethod<>(method, null));
    }

    /** Starts this workflow method. */
    public <W, R extends @Nullable Object> Reaction start(WorkflowMethod.Function<W, RunEvent, R> method) {
        Texts.requireGiven("workflow", method);
        return with(next -> next.starts = new Invocation.OfMethod<>(method, null));
    }

    /** Starts this workflow. */
    public Reaction start(Definition<RunEvent, ?> definition) {
        Texts.requireGiven("workflow", definition);
        return with(next -> next.starts = new Invocation.OfDefinition<>(definition, null));
    }

    /** Its name. */
    public String name() {
        return name;
    }

    /** When it starts a run. */
    public Set<Occasion> occasions() {
        return occasions;
    }

    /** After what time a run is late, if that is an occasion. */
    public Optional<Duration> lateAfter() {
        return Optional.ofNullable(late);
    }

    /** The definitions whose runs it is for; empty for all. */
    public Set<String> definitions() {
        return definitions;
    }

    /** The queue of the runs that it starts. */
    public String queue() {
        return queue;
    }

    /** What it starts, without an input; empty if that was not said yet. */
    public Optional<Invocation<?>> starts() {
        return Optional.ofNullable(starts);
    }

    @Override
    public String toString() {
        return "Reaction[" + name + "]";
    }
}
