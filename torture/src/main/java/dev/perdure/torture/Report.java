package dev.perdure.torture;

import dev.perdure.torture.fault.Faults;
import java.util.List;
import java.util.Map;

/**
 * What happened, and what does not hold.
 *
 * @param plan what was to be done
 * @param struck how often each fault happened, and what was seen of it
 * @param done what each workload has done
 * @param pace how much was done without faults and with them
 * @param violations what does not hold, one sentence each
 */
record Report(Plan plan, Map<Faults, Strikes> struck, List<Done> done, Pace pace, List<String> violations) {
    private static final int SHOWN = 30;
    /** What came of a fault that was not tried. */
    static final Strikes NOT_TRIED = Strikes.none("its turn did not come");

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
            return new Strikes(0, 1, "NEVER: " + why);
        }

        /** What was seen says more than why nothing was. */
        Strikes and(Strikes later) {
            return new Strikes(
                    injected + later.injected,
                    without + later.without,
                    injected > 0 && later.injected == 0 ? last : later.last);
        }

        /** For a person to read. */
        String text() {
            return injected == 0 || without == 0 ? last : "%s (and %d times without effect)".formatted(last, without);
        }
    }

    /** How many pieces a workload has had, and how many bodies ran for them. */
    record Done(String workload, int pieces, long bodies) {}

    /** The faults that were asked for and have had no effect. */
    List<String> missing() {
        return plan.faults().kinds().stream()
                .distinct()
                .filter(fault -> plan.faults().demanded() && strikes(fault).injected() == 0)
                .map(fault ->
                        "The fault '%s' never had its effect: this run says nothing about it.".formatted(fault.word()))
                .toList();
    }

    private Strikes strikes(Faults fault) {
        return struck.getOrDefault(fault, NOT_TRIED);
    }

    /** For a person to read. */
    String text() {
        StringBuilder text =
                new StringBuilder("%nFaults (seed %d): how often each had its effect, and what was seen last%n"
                        .formatted(plan.faults().seed()));
        plan.faults().kinds().stream()
                .distinct()
                .forEach(fault -> text.append("  %-10s %,6d   %s%n"
                        .formatted(
                                fault.word(),
                                strikes(fault).injected(),
                                strikes(fault).text())));
        text.append("Workloads, in %d worker processes%n".formatted(plan.setup().workers()));
        done.forEach(each -> text.append(
                "  %-10s %,6d pieces, %,d bodies%n".formatted(each.workload(), each.pieces(), each.bodies())));
        text.append(pace.text()).append(System.lineSeparator());
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
