package dev.perdure.conformance;

import dev.perdure.conformance.contract.StoreContract;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Store;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import org.junit.jupiter.api.Nested;

/** The store contract in memory: that the suite means what the reference does. */
final class MemoryStoreConformanceTest extends StoreContract {
    @Override
    protected Store freshStore(Supplier<Instant> time) {
        return new MemoryStore(clockwork(time));
    }

    private static Clockwork clockwork(Supplier<Instant> time) {
        return (Clockwork) Proxy.newProxyInstance(
                Clockwork.class.getClassLoader(),
                new Class<?>[] {Clockwork.class},
                (self, method, arguments) -> switch (method.getName()) {
                    case "now" -> time.get();
                    case "nanoTime" -> System.nanoTime();
                    case "random" -> ThreadLocalRandom.current().nextLong();
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }

    /** The looser fence keeps the contract, too. */
    @Nested
    final class AdvancingFencedByLanes extends AdvanceConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return MemoryStore.fencingByLanes(clockwork(time));
        }
    }

    @Nested
    final class LeasesFencedByLanes extends LeasesConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return MemoryStore.fencingByLanes(clockwork(time));
        }
    }

    @Nested
    final class Exchanging extends ExchangeConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class MovingPlaces extends PlacesConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }
}
