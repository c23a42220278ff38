package dev.perdure.torture.defect;

import dev.perdure.retention.Retention;
import dev.perdure.simulation.store.ForwardingStore;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.Store;
import java.time.Duration;

/** Removes runs some seconds after their end. */
final class EagerRetention extends ForwardingStore {
    private static final Duration KEPT = Duration.ofSeconds(2);
    private static final int BATCH = 100;

    EagerRetention(Store store) {
        super(store);
        store.removals().change(Retention.of(KEPT));
    }

    @Override
    public Dispatch dispatch() {
        return request -> {
            behind().removals().remove(BATCH);
            return behind().dispatch().poll(request);
        };
    }
}
