package dev.perdure.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.History;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.postgres.PostgresStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ExportCommandIT extends CommandsOnPostgres {
    private static final Definition<String, String> ORDER =
            Definition.of("order", String.class, String.class, (ctx, in) -> ctx.step("charge", () -> "paid " + in));

    @Test
    void runs_are_exported_by_id_and_by_conditions(@TempDir Path folder) {
        assertThat(perdure(onDatabase("migrate"))).isZero();
        try (PostgresStore store = PostgresStore.on(database().dataSource()).open();
                Perdure engine = Perdure.on(store).register(ORDER).start()) {
            for (int i = 1; i <= 3; i++) {
                engine.start(Invocation.of(ORDER, "o" + i), StartOptions.id("o-" + i))
                        .result();
            }
        }
        int printed = out().length();
        assertThat(perdure(onDatabase("runs", "export", "o-2", "o-1"))).isZero();
        List<String> lines = out().substring(printed).lines().toList();
        assertThat(lines).hasSize(2);
        JsonNode first = new JsonMapper().readTree(lines.getFirst());
        assertThat(first.path("format").asInt()).isEqualTo(1);
        assertThat(first.path("run").asString()).isEqualTo("o-2");
        assertThat(first.path("definition").asString()).isEqualTo("order");
        assertThat(first.path("state").asString()).isEqualTo(RunState.COMPLETED.name());
        assertThat(first.path("input").asString()).isEqualTo("\"o2\"");
        assertThat(first.path("outcome").asString()).isEqualTo("\"paid o2\"");
        assertThat(first.path("journal").get(0).path("name").asString()).isEqualTo("charge");
        assertThat(first.path("journal").get(0).path("payload").asString()).isEqualTo("\"paid o2\"");

        Path file = folder.resolve("histories.jsonl");
        assertThat(perdure(onDatabase(
                        "runs", "export", "--definition", "order", "--limit", "2", "--file", file.toString())))
                .isZero();
        assertThat(err()).contains("2 runs are exported to " + file);
        assertThat(History.read(file))
                .extracting(history ->
                        new JsonMapper().readTree(history.json()).path("run").asString())
                .containsExactly("o-3", "o-2");
        assertThat(History.read(file).get(1).json()).isEqualTo(lines.getFirst());
    }

    @Test
    void what_cannot_be_exported_is_refused() {
        assertThat(perdure(onDatabase("migrate"))).isZero();
        assertThat(perdure(onDatabase("runs", "export", "nobody"))).isEqualTo(Main.NO_SUCH_RUN);
        assertThat(err()).contains("There is no run 'nobody'");
        assertThat(perdure(onDatabase("runs", "export", "o-1", "--state", "FAILED")))
                .isEqualTo(Main.WRONG_USAGE);
        assertThat(err()).contains("Give the ids of runs, or conditions that select them, not both.");
        assertThat(perdure(onDatabase("runs", "export", "--limit", "0"))).isEqualTo(Main.WRONG_USAGE);
        assertThat(err()).contains("The limit is 0; it is 1 to 10000.");
    }

    @Test
    void an_export_that_fails_leaves_the_file_that_was_there(@TempDir Path folder) throws Exception {
        assertThat(perdure(onDatabase("migrate"))).isZero();
        Path file = folder.resolve("histories.jsonl");
        Files.writeString(file, "of last week");
        assertThat(perdure(onDatabase("runs", "export", "nobody", "--file", file.toString())))
                .isEqualTo(Main.NO_SUCH_RUN);
        assertThat(file).hasContent("of last week");
        assertThat(folder).isDirectoryNotContaining("glob:**.part");
    }
}
