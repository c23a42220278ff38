package dev.perdure.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.StartOptions;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.report.LogFilter;
import dev.perdure.spi.report.StepLog;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.slf4j.event.Level;
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

    @Test
    void a_run_is_shown_with_what_its_steps_have_logged() {
        Definition<String, String> loud = Definition.of("loud", String.class, String.class, (ctx, in) -> {
            ctx.step("log", () -> {
                for (int line = 1; line <= 30; line++) {
                    StepLog.append(Level.WARN, "shop", "line " + line + ".");
                }
            });
            return in;
        });
        assertThat(perdure(onDatabase("migrate"))).isZero();
        try (PostgresStore store = PostgresStore.on(database().dataSource()).open();
                Perdure worker = Perdure.on(store).register(loud).start()) {
            Run<String> run = worker.start(Invocation.of(loud, "x"), StartOptions.id("loud-1"));
            assertThat(run.result()).isEqualTo("x");
            while (run.log(LogFilter.oldest(100)).lines().size() < 30) {
                Thread.onSpinWait();
            }
            assertThat(perdure(onDatabase("runs", "show", "loud-1"))).isZero();
            assertThat(out()).contains("WARN", "line 11.", "line 30.").doesNotContain("line 10.");
            JsonNode log = json("runs", "log", "loud-1").get("log");
            assertThat(log).hasSize(30);
            assertThat(log.get(0).get("text").asString()).isEqualTo("line 1.");
            assertThat(log.get(0).get("level").asString()).isEqualTo("WARN");
            Run<String> silent = worker.start(Invocation.of(loud, "y"), StartOptions.id("loud-2"));
            assertThat(silent.result()).isEqualTo("y");
            assertThat(perdure(onDatabase("runs", "log", "nobody"))).isEqualTo(Main.NO_SUCH_RUN);
            assertThat(perdure(onDatabase("runs", "log", "loud-1", "--limit", "0")))
                    .isEqualTo(Main.WRONG_USAGE);
        }
    }
}
