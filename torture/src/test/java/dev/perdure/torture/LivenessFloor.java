package dev.perdure.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.torture.setup.OutsideLedger;
import dev.perdure.torture.setup.OutsideLedger.Line;
import dev.perdure.torture.setup.Phase;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * That faults do not bring everything to a standstill: under them at least half as many bodies run as without, and from
 * three seconds after the last one on as large a share as is asked for. From the ledger, by its server's clock.
 *
 * <p>Only in the long forms, with {@code -Dcrash.floor=true}: inside {@code verify} there is no time to measure the
 * calm.
 */
final class LivenessFloor {
    private static final boolean CHECKED = Boolean.getBoolean("crash.floor");
    private static final Duration WARMING_UP = Duration.ofSeconds(5);
    private static final Duration MEASURED = Duration.ofSeconds(15);
    private static final Duration BACK_WITHIN = Duration.ofSeconds(3);

    private final OutsideLedger ledger;
    private final double shareAfterwards;

    LivenessFloor(OutsideLedger ledger, double shareAfterwards) {
        this.ledger = ledger;
        this.shareAfterwards = shareAfterwards;
    }

    /** Faults that begin when it is called, and are over when it returns. */
    interface Faults {
        void happen() throws Exception;
    }

    /** Lets faults happen, between two phases without. Call it under load. */
    void around(Faults faults) throws Exception {
        if (!CHECKED) {
            faults.happen();
            return;
        }
        Phase calm = quiet(WARMING_UP);
        Instant from = ledger.now();
        faults.happen();
        Phase underFire = new Phase(from, ledger.now());
        Phase back = quiet(BACK_WITHIN);
        List<Line> lines = ledger.lines();
        double rate = calm.rate(lines);
        System.out.printf(
                "floor: %.0f bodies a second without faults, %.0f with, %.0f from %d s after the last one on%n",
                rate, underFire.rate(lines), back.rate(lines), BACK_WITHIN.toSeconds());
        assertThat(underFire.rate(lines)).as("bodies a second under faults").isGreaterThanOrEqualTo(rate / 2);
        assertThat(back.rate(lines)).as("bodies a second after them").isGreaterThanOrEqualTo(rate * shareAfterwards);
    }

    private Phase quiet(Duration before) throws Exception {
        UnderFire.pause(before);
        Instant from = ledger.now();
        UnderFire.pause(MEASURED);
        return new Phase(from, ledger.now());
    }
}
