package dev.perdure.torture;

import dev.perdure.torture.fault.Faults;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What happened, and what does not hold.
 *
 * @param plan what was to be done
 * @param struck how often each fault happened, and what was seen of it
 * @param done what each workload has done
 * @param calmRate bodies a second before the first fault
 * @param faultyRate bodies a second while faults happened
 * @param violations what does not hold, one sentence each
 */
record Report(
        Plan plan,
        Map<Faults, Strikes> struck,
        List<Done> done,
        double calmRate,
        double faultyRate,
        List<String> violations) {
    private static final int SHOWN = 30;

    /**
     * What came of a fault.
     *
     * @param injected how often its effect was seen
     * @param without how often not
     * @param last what was seen last, or why nothing was
     */
    record Strikes(int injected, int without, String last) {
        static Strikes one(String seen) {
            return new Strikes(1, 0, seen);
        }

        static Strikes none(String why) {
            return new Strikes(0, 1, "not injected: " + why);
        }

        Strikes and(Strikes later) {
            return new Strikes(injected + later.injected, without + later.without, later.last);
        }

        private String text() {
            return without == 0 ? last : "%s (%d without effect)".formatted(last, without);
        }
    }

    /** How many pieces a workload has had, and how many bodies ran for them. */
    record Done(String workload, int pieces, long bodies) {}

    /** For a person to read. */
    String text() {
        StringBuilder text =
                new StringBuilder("%nFaults (seed %d)%n".formatted(plan.faults().seed()));
        struck.forEach((fault, strikes) ->
                text.append("  %-10s %,6d   %s%n".formatted(fault.word(), strikes.injected(), strikes.text())));
        text.append("Workloads, in %d worker processes%n".formatted(plan.setup().workers()));
        done.forEach(each -> text.append(
                "  %-10s %,6d pieces, %,d bodies%n".formatted(each.workload(), each.pieces(), each.bodies())));
        text.append(
                String.format(Locale.ROOT, "Bodies a second: %.0f without faults, %.0f with%n", calmRate, faultyRate));
        if (violations.isEmpty()) {
            return text.append("Every invariant holds.").toString();
        }
        text.append("VIOLATIONS: %d%n".formatted(violations.size()));
        violations.stream().limit(SHOWN).forEach(each -> text.append("  %s%n".formatted(each)));
        return text.append("The logs of the workers, and all violations, are in ")
                .append(plan.logs())
                .toString();
    }
}
