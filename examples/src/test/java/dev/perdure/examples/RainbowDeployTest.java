package dev.perdure.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunState;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.bulk.BulkAction;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Store;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import dev.perdure.version.VersionInfo;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The deploys that {@code docs/operate/versions.md} and {@code docs/guides/versioning.md} walk through. */
class RainbowDeployTest {
    /** The code of version v1. */
    static class Parcels {
        // region pinned
        @Workflow(value = "parcel", pinned = true)
        public String send(WorkflowContext ctx, String parcel) {
            ctx.sleep(Duration.ofDays(1));
            return parcel + " sent by v1";
        }
        // endregion
    }

    /** The code of version v2. */
    static class NewParcels {
        @Workflow(value = "parcel", pinned = true)
        public String send(WorkflowContext ctx, String parcel) {
            ctx.sleep(Duration.ofDays(1));
            return parcel + " sent by v2";
        }
    }

    // region test
    @ParameterizedTest
    @EnumSource
    void parcels_stay_with_the_code_that_began_them(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.version("v1").register(new Parcels());
            Run<String> old = perdure.start(Parcels::send, "p-1");
            perdure.settle();
            perdure.version("v2").deployBeside(new NewParcels());
            perdure.versions().drain("v1");
            perdure.advance(Duration.ofHours(1)); // the workers notice it

            assertThat(perdure.start(NewParcels::send, "p-2").result()).isEqualTo("p-2 sent by v2");
            assertThat(old.result()).isEqualTo("p-1 sent by v1");
        }
    }
    // endregion

    @Test
    @Timeout(20)
    void the_process_ends_when_its_version_is_drained() throws InterruptedException {
        Store store = new MemoryStore();
        CountDownLatch drained = new CountDownLatch(1);
        String build = "v1";
        // region drain
        try (Perdure perdure = Perdure.on(store)
                .register(new Parcels())
                .version(build)
                .lease(Duration.ofSeconds(1))
                .whenDrained(drained::countDown)
                .start()) {
            perdure.versions().drain("v1"); // usually another process, or ./perdure versions drain v1
            boolean ended = drained.await(15, TimeUnit.SECONDS);
            VersionInfo version = perdure.versions().get("v1"); // DRAINED
            // endregion
            assertThat(ended).isTrue();
            assertThat(version.state()).isEqualTo(VersionInfo.State.DRAINED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void parcels_that_take_too_long_are_moved(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.version("v1").register(new Parcels());
            Run<String> run = perdure.start(Parcels::send, "p-1");
            perdure.settle();
            perdure.version("v2").deployBeside(new NewParcels());
            // region move
            RunFilter old = RunFilter.all().definition("parcel").version("v1");
            perdure.runs(old).start(BulkAction.pause("moves to v2")).result();
            perdure.runs(old.state(RunState.PAUSED))
                    .start(BulkAction.moveToVersion("v2"))
                    .result();
            RunFilter moved = RunFilter.all().definition("parcel").version("v2").state(RunState.PAUSED);
            perdure.runs(moved).start(BulkAction.resume()).result();
            // endregion
            assertThat(run.result()).isEqualTo("p-1 sent by v2");
        }
    }
}
