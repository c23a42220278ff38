package dev.perdure.queue;

import dev.perdure.error.InvalidRequestException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which workers may run a run.
 *
 * @param required what the labels of a worker have to meet
 * @param preferred what they have to meet for the first {@link #PREFERENCE} after the run has become ready, if a live
 *     worker meets it; otherwise any worker that meets what is required may take it
 */
public record Placement(List<Requirement> required, List<Requirement> preferred) {
    /** Any worker. */
    public static final Placement ANYWHERE = new Placement(List.of(), List.of());

    /** How long a run that is ready waits for a worker that it prefers. */
    public static final Duration PREFERENCE = Duration.ofSeconds(5);

    private static final int MOST = 10;
    private static final String SEPARATOR = ",";
    /** Between what is required and what is preferred. Neither names nor values of labels have it. */
    private static final char PREFERS = '\t';

    /** Sorts the requirements, so that the same requirements are the same placement. */
    public Placement {
        required = sorted("requires", required);
        preferred = sorted("prefers", preferred);
    }

    private static List<Requirement> sorted(String what, Collection<Requirement> given) {
        List<Requirement> sorted = List.copyOf(new TreeSet<>(given));
        if (sorted.size() > MOST) {
            throw new InvalidRequestException(
                    "The run %s %s labels; at most %s are allowed. Give workers that have all of them one label of their own."
                            .formatted(what, sorted.size(), MOST));
        }
        for (Requirement one : sorted) {
            sorted.stream().filter(other -> contradict(one, other)).findFirst().ifPresent(other -> {
                throw new InvalidRequestException(
                        "The run %s %s and %s, which no worker can meet at once. Leave one of them out."
                                .formatted(what, one, other));
            });
        }
        return sorted;
    }

    private static boolean contradict(Requirement one, Requirement other) {
        return one.label().equals(other.label())
                && one.comparison() == Requirement.Comparison.EQUAL
                && other.comparison() == Requirement.Comparison.EQUAL
                && !one.value().equals(other.value());
    }

    /** The same with more that is required. */
    public Placement requiring(Requirement... more) {
        return new Placement(both(required, more), preferred);
    }

    /** The same with more that is preferred. */
    public Placement preferring(Requirement... more) {
        return new Placement(required, both(preferred, more));
    }

    private static List<Requirement> both(List<Requirement> some, Requirement... more) {
        return Stream.concat(some.stream(), Arrays.stream(more)).toList();
    }

    /** Whether any worker may run it. */
    public boolean isAnywhere() {
        return required.isEmpty() && preferred.isEmpty();
    }

    /** Whether a worker with these labels meets what is required. */
    public boolean allows(Map<String, String> labels) {
        return required.stream().allMatch(each -> each.isMetBy(labels));
    }

    /** Whether a worker with these labels also meets what is preferred. */
    public boolean suits(Map<String, String> labels) {
        return allows(labels) && preferred.stream().allMatch(each -> each.isMetBy(labels));
    }

    /** The worker that it requires or prefers by its id, if it does. */
    public Optional<String> worker() {
        return Stream.concat(required.stream(), preferred.stream())
                .filter(Placement::isWorker)
                .map(Requirement::value)
                .findFirst();
    }

    /** Whether it requires a worker by its id. */
    public boolean requiresWorker() {
        return required.stream().anyMatch(Placement::isWorker);
    }

    /** The same for a run whose worker is gone. */
    public Placement withoutWorker() {
        Predicate<Requirement> other = each -> !isWorker(each);
        return new Placement(
                required.stream().filter(other).toList(),
                preferred.stream().filter(other).toList());
    }

    private static boolean isWorker(Requirement requirement) {
        return requirement.label().equals(Requirement.WORKER);
    }

    /** For stores: a text from which {@link #of} reads it, or null if any worker may run it. */
    public @Nullable String text() {
        if (isAnywhere()) {
            return null;
        }
        return preferred.isEmpty() ? joined(required) : joined(required) + PREFERS + joined(preferred);
    }

    private static String joined(List<Requirement> requirements) {
        return requirements.stream().map(Requirement::toString).collect(Collectors.joining(SEPARATOR));
    }

    /** For stores: reads a text that {@link #text()} returned. */
    public static Placement of(@Nullable String text) {
        if (text == null) {
            return ANYWHERE;
        }
        int end = text.indexOf(PREFERS);
        return new Placement(
                read(end < 0 ? text : text.substring(0, end)), end < 0 ? List.of() : read(text.substring(end + 1)));
    }

    private static List<Requirement> read(String joined) {
        return joined.isEmpty()
                ? List.of()
                : Stream.of(joined.split(SEPARATOR, -1)).map(Requirement::of).toList();
    }

    /**
     * The reason of a run that waits for a worker with the labels that it requires.
     *
     * @param queue its queue
     */
    public String missing(String queue) {
        return "No live worker of the queue '%s' has the %s %s."
                .formatted(queue, required.size() == 1 ? "label" : "labels", quoted(required));
    }

    /** The reason of a run that waits for a worker that it prefers. */
    public String preference() {
        return "It waits up to %s seconds for a worker with the %s %s, which it prefers."
                .formatted(PREFERENCE.toSeconds(), preferred.size() == 1 ? "label" : "labels", quoted(preferred));
    }

    private static String quoted(List<Requirement> requirements) {
        return requirements.stream().map(each -> "'" + each + "'").collect(Collectors.joining(", "));
    }

    /** The reason of a run that is cancelled because its worker is gone. */
    public static String gone(String worker) {
        return "The run has to run on worker %s, where its parent was, and that worker is gone. Start it again from the parent, or let it run elsewhere with Sticky.SOFT."
                .formatted(worker);
    }
}
