package dev.perdure.statistics;

import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.error.StepFailedException;
import java.time.Instant;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Runs that failed, grouped by what they failed with. Two reasons are the same if they differ only in words that have a
 * digit, such as ids, numbers and times.
 *
 * @param looked at how many runs the store has looked: the newest, {@value #MOST_RUNS} at most
 * @param more whether there are more
 * @param groups the groups, those with the most runs first
 */
public record Failures(int looked, boolean more, List<Group> groups) {
    /** At how many runs the store looks. */
    public static final int MOST_RUNS = 500;

    private static final int LONGEST_MESSAGE = 500;
    /** A name with a dot at the beginning, or after a colon: the exception that another one has as its cause. */
    private static final Pattern TYPE =
            Pattern.compile("(?:^|: )([\\p{L}_$][\\p{L}\\p{N}_$]*+(?:\\.[\\p{L}_$][\\p{L}\\p{N}_$]*+)++)(?=: |$)");

    /** As {@link StepFailedException} says it. */
    private static final Pattern STEP = Pattern.compile("^[^']*: Step '([^'\\n]*+)' failed after \\d");

    private static final String SEPARATOR = ": ";
    private static final Pattern WORD = Pattern.compile("[\\p{L}\\p{N}_.-]++");
    private static final Pattern DIGIT = Pattern.compile("\\p{N}");
    private static final String ANY = "#";

    /** Copies the list. */
    public Failures {
        groups = List.copyOf(groups);
    }

    /**
     * Runs that failed with the same.
     *
     * @param type the class of the exception, or of its innermost cause that the reason names; empty if it names none
     * @param message the first line of its message, with {@code #} in the place of each word that has a digit
     * @param runs how many runs
     * @param first when the first of them failed
     * @param last when the last of them failed
     * @param latest the run that was created last
     * @param example the reason of that run
     */
    public record Group(
            String type, String message, int runs, Instant first, Instant last, RunId latest, String example) {
        /** The step that failed in the run of the example; empty if the run failed outside of its steps. */
        public Optional<String> step() {
            Matcher step = STEP.matcher(example);
            return step.find() ? Optional.of(step.group(1)) : Optional.empty();
        }
    }

    /** What two runs have in common. */
    private record Kind(String type, String message) {
        static Kind of(RunInfo run) {
            String reason = run.reason().orElse("").lines().findFirst().orElse("");
            String line = reason.substring(0, Math.min(reason.length(), LONGEST_MESSAGE));
            String type = "";
            String message = line;
            Matcher types = TYPE.matcher(line);
            while (types.find()) {
                type = types.group(1);
                if (types.start() == 0) {
                    message = line.substring(Math.min(types.end() + SEPARATOR.length(), line.length()));
                }
            }
            return new Kind(
                    type,
                    WORD.matcher(message).replaceAll(word -> Matcher.quoteReplacement(withoutDigits(word.group()))));
        }

        /** A full stop at the end belongs to the sentence. */
        private static String withoutDigits(String word) {
            if (!DIGIT.matcher(word).find()) {
                return word;
            }
            return word.endsWith(".") ? ANY + "." : ANY;
        }
    }

    /**
     * Groups runs by their reasons.
     *
     * @param more whether there are more runs than these
     */
    public static Failures of(Collection<RunInfo> runs, boolean more) {
        Map<Kind, List<RunInfo>> same =
                runs.stream().collect(Collectors.groupingBy(Kind::of, LinkedHashMap::new, Collectors.toList()));
        List<Group> groups = same.entrySet().stream()
                .map(each -> group(each.getKey(), each.getValue()))
                .sorted(Comparator.comparingInt(Group::runs).reversed())
                .toList();
        return new Failures(runs.size(), more, groups);
    }

    private static Group group(Kind kind, List<RunInfo> runs) {
        List<Instant> times = runs.stream().map(RunInfo::changedAt).sorted().toList();
        RunInfo latest = Collections.max(runs, Comparator.comparing(RunInfo::createdAt));
        return new Group(
                kind.type(),
                kind.message(),
                runs.size(),
                times.getFirst(),
                times.getLast(),
                latest.id(),
                latest.reason().orElse(""));
    }
}
