package dev.perdure.shards;

import static dev.perdure.shards.Shard.shard;

import dev.perdure.conformance.AdvanceConformance;
import dev.perdure.conformance.AnswerConformance;
import dev.perdure.conformance.CommandConformance;
import dev.perdure.conformance.EndReportConformance;
import dev.perdure.conformance.JournalsConformance;
import dev.perdure.conformance.MailConformance;
import dev.perdure.conformance.RaceConformance;
import dev.perdure.conformance.StartLimitConformance;
import dev.perdure.conformance.operation.LateRunConformance;
import dev.perdure.conformance.report.LogConformance;
import dev.perdure.conformance.report.ReportConformance;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Store;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import org.junit.jupiter.api.Nested;

/**
 * The store contract on two shards in memory: the groups whose runs may be on any shard. The others name runs, objects and
 * keys that have to be on one shard, or ask for an order of claims among all runs.
 */
final class ShardedStoreConformanceTest {
    private static Store freshStore(Supplier<Instant> time) {
        return ShardedStore.settling(
                shard("a", new MemoryStore(clockwork(time))), shard("b", new MemoryStore(clockwork(time))));
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

    @Nested
    final class LateRuns extends LateRunConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class StartLimits extends StartLimitConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class Advancing extends AdvanceConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class Commanding extends CommandConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class StepReports extends ReportConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class Logging extends LogConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class Reading extends JournalsConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class Racing extends RaceConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class Mailing extends MailConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class Answering extends AnswerConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class Reporting extends EndReportConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }
}
