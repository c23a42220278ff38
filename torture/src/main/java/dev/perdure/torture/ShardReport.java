package dev.perdure.torture;

import dev.perdure.torture.ShardTorture.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What happened to several shards, and what does not hold.
 *
 * @param plan what was to be done
 * @param struck how often each fault happened, and what was seen of it last
 * @param done what each workload has done
 * @param longestPause the longest time in which no body of a partition that moved ended, while nothing else happened
 * @param outage what the other shards did while one was down, and nothing else happened
 * @param invariants what does not hold, one sentence each
 */
record ShardReport(
        ShardPlan plan,
        Map<Kind, Report.Strikes> struck,
        List<Report.Done> done,
        Duration longestPause,
        Outage outage,
        List<String> invariants) {
    private static final int SHOWN = 30;
    private static final double LEAST_SHARE = 0.8;
    private static final Duration MOST_PAUSE = Duration.ofSeconds(2);

    /**
     * The work of two shards without the third.
     *
     * @param before bodies a second before it was down
     * @param meanwhile bodies a second while it was down
     */
    record Outage(double before, double meanwhile) {
        double share() {
            return meanwhile / Math.max(before, Double.MIN_NORMAL);
        }

        String text() {
            return String.format(
                    Locale.ROOT,
                    "bodies a second of the two other shards: %.0f before, %.0f meanwhile, %.0f %%",
                    before,
                    meanwhile,
                    100 * share());
        }
    }

    /** What does not hold. How fast it was counts only in a run that is long enough to say. */
    List<String> violations() {
        List<String> all = new ArrayList<>(invariants);
        if (!plan.length().isZero() && outage.share() < LEAST_SHARE) {
            all.add("Less than 80 % of the work of two shards was done while the third was down.");
        }
        if (!plan.length().isZero() && longestPause.compareTo(MOST_PAUSE) > 0) {
            all.add("The runs of a partition that moved paused for more than two seconds.");
        }
        return all;
    }

    /** For a person to read. */
    String text() {
        StringBuilder text = new StringBuilder("%nFaults (seed %d)%n".formatted(plan.seed()));
        for (Kind kind : Kind.values()) {
            Report.Strikes strikes = struck.getOrDefault(kind, Report.NOT_TRIED);
            text.append("  %-10s %,6d   %s%n"
                    .formatted(kind.name().toLowerCase(Locale.ROOT), strikes.injected(), strikes.text()));
        }
        text.append("Workloads, on three shards and in %d worker processes%n".formatted(plan.workers()));
        done.forEach(each -> text.append(
                "  %-14s %,6d pieces, %,d bodies%n".formatted(each.workload(), each.pieces(), each.bodies())));
        text.append("One server down: %s (wanted: 80 %%)%n".formatted(outage.text()));
        text.append("Longest pause of the runs of a partition that moved: %,d ms (wanted: 2,000)%n"
                .formatted(longestPause.toMillis()));
        List<String> violations = violations();
        if (violations.isEmpty()) {
            return text.append("Every invariant holds.").toString();
        }
        text.append("VIOLATIONS: %d%n".formatted(violations.size()));
        violations.stream().limit(SHOWN).forEach(each -> text.append("  %s%n".formatted(each)));
        return text.append("The logs of the processes are in ")
                .append(plan.logs())
                .toString();
    }
}
