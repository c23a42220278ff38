package dev.perdure.conformance.contract;

import dev.perdure.conformance.AdvanceConformance;
import dev.perdure.conformance.AnswerConformance;
import dev.perdure.conformance.ChildListConformance;
import dev.perdure.conformance.CommandConformance;
import dev.perdure.conformance.DispatchConformance;
import dev.perdure.conformance.EffectConformance;
import dev.perdure.conformance.EndReportConformance;
import dev.perdure.conformance.ExchangeConformance;
import dev.perdure.conformance.HintsConformance;
import dev.perdure.conformance.JournalsConformance;
import dev.perdure.conformance.LeasesConformance;
import dev.perdure.conformance.MailConformance;
import dev.perdure.conformance.RaceConformance;
import dev.perdure.conformance.RunsConformance;
import dev.perdure.conformance.StartConformance;
import dev.perdure.conformance.StartKeyConformance;
import dev.perdure.conformance.StartLimitConformance;
import dev.perdure.conformance.dag.RerunConformance;
import dev.perdure.conformance.dag.TaskCommandConformance;
import dev.perdure.conformance.dag.TaskConformance;
import dev.perdure.conformance.limiter.PermitConformance;
import dev.perdure.conformance.limiter.PermitLineConformance;
import dev.perdure.conformance.object.CallCycleConformance;
import dev.perdure.conformance.object.CallPipelineConformance;
import dev.perdure.conformance.object.CompletedCallConformance;
import dev.perdure.conformance.object.ObjectConformance;
import dev.perdure.conformance.object.ObjectStateConformance;
import dev.perdure.conformance.operation.AuditConformance;
import dev.perdure.conformance.operation.DeletionConformance;
import dev.perdure.conformance.operation.FilterConformance;
import dev.perdure.conformance.operation.LateRunConformance;
import dev.perdure.conformance.operation.PayloadConformance;
import dev.perdure.conformance.operation.ReactionConformance;
import dev.perdure.conformance.operation.ReassignConformance;
import dev.perdure.conformance.operation.RemovalConformance;
import dev.perdure.conformance.operation.RepairConformance;
import dev.perdure.conformance.operation.RetryConformance;
import dev.perdure.conformance.operation.StatisticsConformance;
import dev.perdure.conformance.operation.ValueConformance;
import dev.perdure.conformance.operation.VersionConformance;
import dev.perdure.conformance.queue.FullKeyConformance;
import dev.perdure.conformance.queue.PlacementConformance;
import dev.perdure.conformance.queue.QueueEntryConformance;
import dev.perdure.conformance.queue.QueueLimitConformance;
import dev.perdure.conformance.queue.QueueOperatorConformance;
import dev.perdure.conformance.queue.QueueOrderConformance;
import dev.perdure.conformance.queue.QueueRateConformance;
import dev.perdure.conformance.queue.TurnConformance;
import dev.perdure.conformance.report.LogConformance;
import dev.perdure.conformance.report.ReportConformance;
import dev.perdure.spi.Store;
import java.time.Instant;
import java.util.function.Supplier;
import org.junit.jupiter.api.Nested;

/** The whole store contract. The test of a store extends it. What shards need in addition is in {@link ExchangeConformance}. */
public abstract class StoreContract {
    /** For the test of a store. */
    protected StoreContract() {}

    /** A store without any runs. */
    protected abstract Store freshStore(Supplier<Instant> time);

    @Nested
    final class Starting extends StartConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class Reacting extends ReactionConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
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
    final class StartKeys extends StartKeyConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class Auditing extends AuditConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class Statistics extends StatisticsConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class Versioning extends VersionConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class Reassigning extends ReassignConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class Deleting extends DeletionConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class Repairing extends RepairConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class Retrying extends RetryConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class Finding extends FilterConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class Removing extends RemovalConformance {
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
    final class Dispatching extends DispatchConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class Turns extends TurnConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class FullKeys extends FullKeyConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class QueueLimits extends QueueLimitConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class QueueEntries extends QueueEntryConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class QueueOrders extends QueueOrderConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class QueueRates extends QueueRateConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class QueueOperators extends QueueOperatorConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class Placing extends PlacementConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class Limiting extends PermitConformance {
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
    final class LinesOfLimiters extends PermitLineConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class Leasing extends LeasesConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class EncryptedValues extends ValueConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class LargePayloads extends PayloadConformance {
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
    final class Asking extends RunsConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class Hinting extends HintsConformance {
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
    final class Reporting extends EndReportConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class Effecting extends EffectConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class ListingChildren extends ChildListConformance {
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
    final class Grouping extends TaskConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class TaskCommands extends TaskCommandConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class Reruns extends RerunConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class Objects extends ObjectConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class CallCycles extends CallCycleConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class ObjectStates extends ObjectStateConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class CallPipelines extends CallPipelineConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class CompletedCalls extends CompletedCallConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }
}
