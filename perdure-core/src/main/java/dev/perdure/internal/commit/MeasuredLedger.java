package dev.perdure.internal.commit;

import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.measure.Measurements;
import java.util.List;

/** Tells how many changes go in a batch, how long the store takes for it, and how many are on their way. */
public final class MeasuredLedger implements Ledger {
    private final Ledger ledger;
    private final Measurements measurements;
    private final Clockwork clockwork;

    public MeasuredLedger(Ledger ledger, Measurements measurements, Clockwork clockwork) {
        this.ledger = ledger;
        this.measurements = measurements;
        this.clockwork = clockwork;
    }

    @Override
    public List<Outcome> apply(Lane lane, List<Change> changes) {
        long began = clockwork.nanoTime();
        measurements.committing();
        try {
            return ledger.apply(lane, changes);
        } finally {
            measurements.committed(changes.size(), clockwork.nanoTime() - began);
        }
    }
}
