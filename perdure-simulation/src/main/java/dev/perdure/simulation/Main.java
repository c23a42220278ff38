package dev.perdure.simulation;

import dev.perdure.testing.internal.simulation.Histories;
import java.io.PrintStream;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** What {@code ./perdure simulate} runs: many histories, with progress, and what they covered. */
public final class Main {
    private static final String USAGE = """
        Usage: perdure simulate [--seeds N] [--first N] [--minutes M] [--workers N]
          --seeds    how many histories (10000)
          --first    the first seed (1)
          --minutes  the longest time (60)
          --workers  how many histories run at once (the number of processors)\
        """;
    private static final int ROUND = 200;
    private static final int MOST_WORKERS = 1_000;

    private Main() {}

    /** Runs histories and exits with 1 if one fails. */
    public static void main(String[] arguments) {
        System.exit(run(arguments, System.out));
    }

    static int run(String[] arguments, PrintStream out) {
        Map<String, Long> options = new TreeMap<>(Map.of(
                "--seeds", 10_000L,
                "--first", 1L,
                "--minutes", 60L,
                "--workers", (long) Runtime.getRuntime().availableProcessors()));
        for (int i = 0; i < arguments.length; i += 2) {
            String name = arguments[i];
            if (name.equals("--help")) {
                out.println(USAGE);
                return 0;
            }
            String mistake = mistake(name, i + 1 < arguments.length ? arguments[i + 1] : null, options);
            if (mistake != null) {
                out.println(mistake);
                out.println(USAGE);
                return 2;
            }
            options.put(name, Long.valueOf(arguments[i + 1]));
        }
        return simulate(options, out);
    }

    private static @Nullable String mistake(String name, @Nullable String value, Map<String, Long> options) {
        if (!options.containsKey(name)) {
            return "'%s' is no option.".formatted(name);
        }
        if (value == null) {
            return "The option '%s' has no value.".formatted(name);
        }
        if (!value.matches("[1-9]\\d{0,17}")) {
            return "The value '%s' of '%s' is not a whole number from 1 on.".formatted(value, name);
        }
        if (name.equals("--workers") && Long.parseLong(value) > MOST_WORKERS) {
            return "The value '%s' of '%s' is more than %s.".formatted(value, name, MOST_WORKERS);
        }
        return null;
    }

    private static int simulate(Map<String, Long> options, PrintStream out) {
        Coverage coverage = new Coverage();
        Histories histories = Workload.histories(coverage);
        long first = options.getOrDefault("--first", 1L);
        long seeds = options.getOrDefault("--seeds", 10_000L);
        int workers = Math.toIntExact(options.getOrDefault("--workers", 1L));
        long began = System.nanoTime();
        long done = 0;
        while (done < seeds && minutesSince(began) < options.getOrDefault("--minutes", 60L)) {
            long count = Math.min(ROUND, seeds - done);
            try {
                histories.check(first + done, count, workers);
            } catch (AssertionError failed) {
                out.println(failed.getMessage());
                return 1;
            }
            done += count;
            double seconds = (System.nanoTime() - began) / 1e9;
            out.printf(Locale.ROOT, "%,d histories, %,.0f a second%n", done, done / seconds);
        }
        out.println(coverage.text());
        return 0;
    }

    private static long minutesSince(long began) {
        return TimeUnit.NANOSECONDS.toMinutes(System.nanoTime() - began);
    }
}
