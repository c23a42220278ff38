package dev.perdure.testing.scenarios;

import dev.perdure.shards.MemoryShards;
import dev.perdure.shards.OneShardCases;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.ExtendWith;

/** All scenarios, in virtual time, on several shards, without those that {@code one-shard-scenarios.txt} names. */
@ExtendWith(ShardScenarios.LeftOut.class)
abstract class ShardScenarios implements Kit {
    private static final String LISTS = "one-shard-scenarios.txt";

    /** The scenarios that do not pass on several shards, with the reasons. */
    static final class LeftOut extends OneShardCases {
        LeftOut() {
            super(ShardScenarios.class, ShardScenarios.class, LISTS, List.of("one shard"));
        }
    }

    /** Those that do not pass on three shards, but on two. */
    static final class LeftOutOnThree extends OneShardCases {
        LeftOutOnThree() {
            super(ShardScenarios.class, ShardScenarios.class, LISTS, List.of("three shards"));
        }
    }

    private final int shards;

    ShardScenarios(int shards) {
        this.shards = shards;
    }

    @Override
    public PerdureTest create(TestMode mode) {
        return PerdureTest.on(clockwork -> MemoryShards.even(shards, clockwork), mode);
    }

    @Nested
    final class Attribute extends AttributeScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Audit extends AuditScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Awaited extends AwaitedScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Bulk extends BulkScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Cancellation extends CancellationScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class ChangedCall extends ChangedCallScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Child extends ChildScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Combinator extends CombinatorScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class ContinueAsNew extends ContinueAsNewScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Crash extends CrashScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class DagCode extends DagCodeScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class DagCondition extends DagConditionScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class DagFailure extends DagFailureScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class DagForEach extends DagForEachScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class DagInterruption extends DagInterruptionScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class DagRepair extends DagRepairScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Dag extends DagScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class DagStart extends DagStartScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Deadline extends DeadlineScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class DeployedSchedule extends DeployedScheduleScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Determinism extends DeterminismScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class EncryptedAttribute extends EncryptedAttributeScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Encryption extends EncryptionScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class OddException extends OddExceptionScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Error extends ErrorScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Event extends EventScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Fault extends FaultScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class FullKey extends FullKeyScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Header extends HeaderScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class History extends HistoryScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Interceptor extends InterceptorScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Invocation extends InvocationScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Kill extends KillScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class LargePayload extends LargePayloadScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Limiter extends LimiterScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Listener extends ListenerScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Listing extends ListingScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class LogLine extends LogLineScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Message extends MessageScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Misuse extends MisuseScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class ObjectCall extends ObjectCallScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Object extends ObjectScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class ObjectState extends ObjectStateScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class ParallelStep extends ParallelStepScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Patch extends PatchScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Pause extends PauseScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Placement extends PlacementScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Poison extends PoisonScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Progress extends ProgressScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Promise extends PromiseScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Publish extends PublishScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Queue extends QueueScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Reaction extends ReactionScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Reencryption extends ReencryptionScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Retention extends RetentionScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class RetriedRun extends RetriedRunScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Retry extends RetryScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Saga extends SagaScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class ScheduleCommand extends ScheduleCommandScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Schedule extends ScheduleScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class SentHeader extends SentHeaderScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class StartKey extends StartKeyScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class StartLimit extends StartLimitScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Starting extends StartingScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Step extends StepScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Swallowing extends SwallowingScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Timer extends TimerScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Transaction extends TransactionScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Tree extends TreeScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Version extends VersionScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class WaitReason extends WaitReasonScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }

    @Nested
    final class Worker extends WorkerScenarios {
        @Override
        public PerdureTest create(TestMode mode) {
            return ShardScenarios.this.create(mode);
        }
    }
}
