package dev.perdure.internal.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.error.StoreException;
import dev.perdure.internal.definition.Registry;
import dev.perdure.internal.json.JsonCodec;
import dev.perdure.internal.settings.Settings;
import dev.perdure.internal.time.SystemClockwork;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Leases.Joining;
import dev.perdure.spi.VersionRules;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.version.VersionInfo;
import dev.perdure.version.WorkerInfo;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Orders to drain and to resume that follow each other faster than workers notice them. */
class DrainingTest {
    private static final String VERSION = "v1";
    private static final Set<String> ALL = Set.of(VersionRules.ALL);

    /** Lets an operator act right after a worker has asked what its version is told. */
    private static final class Interrupted implements VersionRules {
        private final VersionRules versions;
        private @Nullable Runnable next;
        /** Whether the answer to the next report is lost. */
        private boolean losesAnswer;

        Interrupted(VersionRules versions) {
            this.versions = versions;
        }

        @Override
        public void apply(Order order, @Nullable Audit audit) {
            versions.apply(order, audit);
        }

        @Override
        public Set<String> drains(String version) {
            Set<String> told = versions.drains(version);
            @Nullable Runnable action = next;
            next = null;
            if (action != null) {
                action.run();
            }
            return told;
        }

        @Override
        public void obeys(WorkerId worker, Set<String> drains) {
            versions.obeys(worker, drains);
            if (losesAnswer) {
                losesAnswer = false;
                throw new StoreException(StoreException.Kind.UNAVAILABLE, "The connection is lost.", null);
            }
        }

        @Override
        public List<VersionInfo> list() {
            return versions.list();
        }

        @Override
        public boolean isDrained(String version) {
            return versions.isDrained(version);
        }

        @Override
        public List<WorkerInfo> workers() {
            return versions.workers();
        }
    }

    private final MemoryStore store = new MemoryStore();
    private final Interrupted versions = new Interrupted(store.versions());
    private final Registry registry = new Registry(
            List.of(Definition.of("parcel", String.class, String.class, (ctx, in) -> in)
                    .pinned()),
            new JsonCodec());

    /** A worker as far as drains concern it. */
    private final class Member {
        private final WorkerId id = new WorkerId(UUID.randomUUID());
        private final Acquisitions starts = new Acquisitions(() -> {});
        private final Draining draining = new Draining(
                versions,
                new SystemClockwork(),
                new Settings.WorkerRules(
                        Set.of("default"), VERSION, Duration.ofHours(1), 10, Duration.ofSeconds(1), Map.of(), () -> {}),
                registry);

        Member() {
            store.leases().join(new Joining(id, registry.names(), VERSION, Duration.ofHours(1), 1));
        }

        void looks() {
            boolean unused = draining.look(id, starts);
        }

        void polls() {
            draining.polled(draining.version());
        }

        boolean takesRuns() {
            return !draining.isUnderWay();
        }
    }

    private void drain() {
        versions.apply(new VersionRules.Order(VERSION, VersionRules.ALL, true), null);
    }

    private void drainParcels() {
        versions.apply(new VersionRules.Order(VERSION, "parcel", true), null);
    }

    private boolean parcelsAreDrained() {
        return versions.list().getFirst().definitions().getFirst().drained();
    }

    private void resume() {
        versions.apply(new VersionRules.Order(VERSION, VersionRules.ALL, false), null);
    }

    private Member drained() {
        Member member = new Member();
        drain();
        member.looks();
        member.polls();
        member.looks();
        assertThat(versions.isDrained(VERSION)).isTrue();
        return member;
    }

    @Test
    void a_version_is_not_drained_while_a_worker_takes_runs_that_has_not_noticed_the_second_drain() {
        Member member = drained();
        resume();
        member.looks();
        assertThat(member.takesRuns()).isTrue();
        drain();
        assertThat(versions.isDrained(VERSION)).isFalse();

        member.looks();
        assertThat(member.takesRuns()).isFalse();
        assertThat(versions.isDrained(VERSION)).as("a poll may be under way").isFalse();
        member.polls();
        member.looks();
        assertThat(versions.isDrained(VERSION)).isTrue();
    }

    @Test
    void a_worker_takes_no_runs_again_if_its_version_was_drained_before_it_took_back_its_report() {
        Member member = drained();
        resume();
        versions.next = () -> {
            drain();
            assertThat(versions.isDrained(VERSION)).isTrue();
        };
        member.looks();
        assertThat(member.takesRuns()).isFalse();
        member.looks();
        assertThat(versions.isDrained(VERSION)).isTrue();
    }

    @Test
    void a_report_whose_answer_was_lost_is_taken_back_too() {
        Member member = new Member();
        drain();
        member.looks();
        member.polls();
        versions.losesAnswer = true;
        assertThatThrownBy(member::looks).isInstanceOf(StoreException.class);
        assertThat(versions.isDrained(VERSION)).isTrue();

        resume();
        member.looks();
        assertThat(member.takesRuns()).isTrue();
        drain();
        assertThat(versions.isDrained(VERSION)).isFalse();
    }

    @Test
    void a_start_that_began_before_the_drain_holds_it_up() {
        Member member = new Member();
        member.starts.during(() -> {
            drain();
            member.looks();
            member.polls();
            member.looks();
            assertThat(versions.isDrained(VERSION)).isFalse();
            return ALL;
        });
        member.looks();
        assertThat(versions.isDrained(VERSION)).isTrue();
    }

    @Test
    void a_drained_definition_stays_so_while_the_order_for_all_of_them_comes_and_goes() {
        Member member = drained();
        resume();
        drainParcels();
        assertThat(parcelsAreDrained()).isTrue();
        member.looks();
        assertThat(parcelsAreDrained())
                .as("only this definition is drained now")
                .isTrue();

        drain();
        member.looks();
        assertThat(parcelsAreDrained()).as("all are to be drained again").isTrue();
        assertThat(versions.isDrained(VERSION)).as("a poll may be under way").isFalse();
        member.polls();
        member.looks();
        assertThat(versions.isDrained(VERSION)).isTrue();
    }
}
