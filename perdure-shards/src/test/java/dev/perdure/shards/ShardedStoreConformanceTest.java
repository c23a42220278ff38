package dev.perdure.shards;

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
import dev.perdure.spi.Store;
import java.time.Instant;
import java.util.function.Supplier;
import org.junit.jupiter.api.Nested;

/** A selection of the store contract on two shards, for every build. {@link TwoShardsConformanceTest} has all of it. */
final class ShardedStoreConformanceTest {
    private static Store freshStore(Supplier<Instant> time) {
        return MemoryShards.even(2, time);
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
