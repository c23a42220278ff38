package dev.perdure.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.postgres.PostgresStore;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class VersionsCommandIT extends CommandsOnPostgres {
    private static final Topic<String> GO = Topic.of("go", String.class);
    private static final Definition<String, String> ORDER = Definition.of(
                    "order",
                    String.class,
                    String.class,
                    (ctx, in) -> ctx.receive(GO).await())
            .pinned();

    @Test
    void versions_are_listed_drained_and_resumed() {
        assertThat(perdure(onDatabase("migrate"))).isZero();
        assertThat(perdure(onDatabase("versions"))).isZero();
        assertThat(out()).contains("No versions. Give workers one");
        try (PostgresStore store = PostgresStore.on(database().dataSource()).open();
                Perdure worker = Perdure.on(store)
                        .register(ORDER)
                        .version("v1")
                        .lease(Duration.ofSeconds(1))
                        .start()) {
            Run<String> run = worker.start(Invocation.of(ORDER, "x"), StartOptions.id("order-1"));
            worker.start(Invocation.of(ORDER, "x"), StartOptions.id("order-2").version("v0"));

            JsonNode listed = json("versions");
            assertThat(listed.at("/versions").findValuesAsString("name")).containsExactly("v0", "v1");
            assertThat(listed.at("/versions").findValuesAsString("state")).containsExactly("NO_WORKER", "ACTIVE");
            assertThat(listed.at("/definitions/1/definition").asString()).isEqualTo("order");
            assertThat(listed.at("/definitions/1/runs").asInt()).isEqualTo(1);
            assertThat(listed.at("/definitions/1/workers").asInt()).isEqualTo(1);

            JsonNode workers = json("versions", "workers");
            assertThat(workers.at("/workers")).hasSize(1);
            assertThat(workers.at("/workers/0/version").asString()).isEqualTo("v1");
            assertThat(workers.at("/workers/0/definitions/0").asString()).isEqualTo("order");
            assertThat(workers.at("/workers/0/draining").asBoolean()).isFalse();

            assertThat(perdure(onDatabase("versions", "drain", "v1", "--by", "anna")))
                    .isZero();
            assertThat(out()).contains("Version v1 takes no more runs, as soon as its workers notice it.");
            worker.send(run.id(), GO, "done");
            assertThat(run.result()).isEqualTo("done");
            assertThat(perdure(onDatabase("versions", "drain", "v1", "--wait"))).isZero();
            assertThat(out()).contains("Version v1 has drained.");
            assertThat(perdure(onDatabase("versions", "list"))).isZero();
            assertThat(out())
                    .containsPattern("v0 +NO_WORKER +0 +1 +no worker: its runs do not continue")
                    .containsPattern("v1 +DRAINED +1 +0 +safe to switch off");

            assertThat(perdure(onDatabase("versions", "resume", "v1"))).isZero();
            assertThat(perdure(onDatabase("versions", "drain", "v1", "--definition", "order")))
                    .isZero();
            assertThat(perdure(onDatabase("versions", "drain", "v1", "--definition", "order", "--wait")))
                    .isZero();
            assertThat(json("versions").at("/definitions/1/drained").asBoolean())
                    .as("the worker has noticed it")
                    .isTrue();
            assertThat(out())
                    .contains("Version v1 takes runs again.")
                    .contains("Version v1 takes no more runs of order, as soon as its workers notice it.");
            assertThat(perdure(onDatabase("audit", "list", "--of-version", "v1")))
                    .isZero();
            assertThat(out()).containsPattern("DRAIN version 'v1' by anna").contains(": order");
            assertThat(perdure(onDatabase("versions", "drain", "v9"))).isEqualTo(Main.NO_SUCH_RUN);
            assertThat(err()).contains("There is no version 'v9'");
            assertThat(perdure(onDatabase("db", "status"))).isEqualTo(Main.FAILED);
            assertThat(out()).contains("No live worker has the definition 'order' in version 'v0', and 1 live runs");
        }
    }
}
