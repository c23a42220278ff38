package dev.perdure.torture.setup;

import dev.perdure.torture.setup.OutsideLedger.Line;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** From one time to another, by the clock of the ledger. */
public record Phase(Instant from, Instant until) {
    /** Whether a body ended in it. */
    public boolean has(Line line) {
        return !line.at().isBefore(from) && line.at().isBefore(until);
    }

    /** Bodies a second. */
    public double rate(List<Line> lines) {
        long bodies = lines.stream().filter(this::has).count();
        return bodies * 1e9 / Math.max(1, Duration.between(from, until).toNanos());
    }
}
