package dev.perdure.testing.internal.simulation;

import java.util.List;
import java.util.stream.Collectors;

/** A history failed: the seed, what happened, and the fewest faults with which it still fails. */
public final class SimulationFailure extends AssertionError {
    private static final long serialVersionUID = 1L;

    private final long seed;

    SimulationFailure(long seed, Report report) {
        super(report.text(seed), report.cause());
        this.seed = seed;
    }

    /** The seed of the history that failed. */
    public long seed() {
        return seed;
    }

    /** A history that would never end. */
    static final class Stuck extends AssertionError {
        private static final long serialVersionUID = 1L;

        Stuck(String message) {
            super(message);
        }
    }

    /**
     * The report about a failed history.
     *
     * @param cause the failure of the shrunk history
     * @param before how many faults it had
     * @param faults the faults that are left
     * @param lines the timeline of the shrunk history
     */
    record Report(Throwable cause, int before, List<Choices.Happened> faults, List<String> lines) {
        private static final int MOST_LINES = 400;

        String text(long seed) {
            return """
                    Seed %s fails: %s
                    It had %s; it fails with %s. Run it alone with @Simulate(seed = %s).
                    What happens in the shrunk history:
                    %s""".formatted(
                    seed, cause.getMessage(), before == 1 ? "1 fault" : before + " faults", words(), seed, shown());
        }

        private String words() {
            if (faults.isEmpty()) {
                return "none of them";
            }
            return faults.size() + ": "
                    + faults.stream().map(happened -> happened.fault().words()).collect(Collectors.joining("; "));
        }

        private String shown() {
            int left = Math.max(0, lines.size() - MOST_LINES);
            String text = String.join("\n", lines.subList(left, lines.size()));
            return left == 0 ? text : "(" + left + " lines before)\n" + text;
        }
    }
}
