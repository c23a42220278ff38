package dev.perdure.torture;

import dev.perdure.torture.setup.OutsideLedger.Line;
import dev.perdure.torture.setup.Phase;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The liveness floor: an engine that is stuck breaks no other rule. Only bodies of workloads count, because a fault that
 * starts runs of its own would hide that the others stand still. The time of crowds does not count: their runs take all
 * the time of the processors.
 *
 * @param calm bodies a second before the first fault
 * @param faulty bodies a second while faults happened, without the time of crowds
 * @param judged for how long faults happened, without the time of crowds
 */
record Pace(double calm, double faulty, Duration judged) {
    private static final Duration LEAST_JUDGED = Duration.ofSeconds(30);

    static Pace of(List<Line> ofWorkloads, Phase calm, Phase faulty, Collection<Phase> crowds) {
        Duration without = Duration.between(faulty.from(), faulty.until()).minus(length(crowds));
        long bodies = ofWorkloads.stream()
                .filter(faulty::has)
                .filter(line -> crowds.stream().noneMatch(crowd -> crowd.has(line)))
                .count();
        double rate = bodies * 1e9 / Math.max(1, without.toNanos());
        return new Pace(calm.rate(ofWorkloads), rate, without);
    }

    /** Of all together: they may overlap. */
    private static Duration length(Collection<Phase> phases) {
        Duration length = Duration.ZERO;
        Instant end = Instant.MIN;
        for (Phase phase :
                phases.stream().sorted(Comparator.comparing(Phase::from)).toList()) {
            Instant from = phase.from().isAfter(end) ? phase.from() : end;
            if (phase.until().isAfter(from)) {
                length = length.plus(Duration.between(from, phase.until()));
                end = phase.until();
            }
        }
        return length;
    }

    Optional<String> violation() {
        return judged.compareTo(LEAST_JUDGED) >= 0 && faulty < calm / 2
                ? Optional.of(
                        "Fewer than half as many bodies ran with faults as without: the faults hide what they test.")
                : Optional.empty();
    }

    String text() {
        return String.format(
                Locale.ROOT,
                "Bodies of workloads a second: %.0f without faults; %.0f with, in %d s beside which no crowd was",
                calm,
                faulty,
                judged.toSeconds());
    }
}
