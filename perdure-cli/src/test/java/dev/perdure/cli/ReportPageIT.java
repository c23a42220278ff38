package dev.perdure.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.StartOptions;
import dev.perdure.postgres.PostgresStore;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class ReportPageIT extends CommandsOnPostgres {
    @Test
    void a_run_is_shown_with_the_progress_of_its_step() {
        CountDownLatch seen = new CountDownLatch(1);
        Definition<String, String> imports = Definition.of("imports", String.class, String.class, (ctx, in) -> {
            ctx.step("import", () -> {
                ctx.attempt().progress(0.4, "page 3 of 7");
                seen.await();
            });
            return in;
        });
        assertThat(perdure(onDatabase("migrate"))).isZero();
        try (PostgresStore store = PostgresStore.on(database().dataSource()).open();
                Perdure worker = Perdure.on(store).register(imports).start()) {
            Run<String> run = worker.start(Invocation.of(imports, "x"), StartOptions.id("import-1"));
            while (run.progress().isEmpty()) {
                Thread.onSpinWait();
            }
            assertThat(perdure(onDatabase("runs", "show", "import-1"))).isZero();
            assertThat(out()).contains("40 %, page 3 of 7", "attempt 1 of step 'import' reported: 40 %, page 3 of 7");
            JsonNode progress = json("runs", "show", "import-1").get("progress").get(0);
            assertThat(progress.get("step").asString()).isEqualTo("import");
            assertThat(progress.get("fraction").asDouble()).isEqualTo(0.4);
            assertThat(progress.get("message").asString()).isEqualTo("page 3 of 7");

            seen.countDown();
            assertThat(run.result()).isEqualTo("x");
            assertThat(json("runs", "show", "import-1").get("progress")).isNull();
        } finally {
            seen.countDown();
        }
    }
}
