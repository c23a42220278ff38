package dev.perdure.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.StartOptions;
import dev.perdure.postgres.PostgresStore;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class DbCommandIT extends CommandsOnPostgres {
    private static final Definition<String, String> ECHO =
            Definition.of("echo", String.class, String.class, (ctx, in) -> in);

    @Test
    void a_healthy_database_is_shown_with_its_tables_and_exits_with_0() {
        try (PostgresStore store = PostgresStore.on(database().dataSource()).open();
                Perdure worker = Perdure.on(store).register(ECHO).start()) {
            worker.start(Invocation.of(ECHO, "x")).result();
            assertThat(perdure(onDatabase("db", "status"))).isZero();
        }
        assertThat(out())
                .containsPattern("(?m)^workers +1$")
                .contains("Findings\nNothing is wrong.", "No run waits or is at work.")
                .containsPattern("(?m)^TABLE +ROWS +DEAD ROWS +BYTES +INDEX BYTES +FREE BYTES +VACUUMED$")
                .containsPattern("(?m)^run +\\d+ +\\d+ +[0-9.]+ kB +[0-9.]+ kB +\\S+");
    }

    @Test
    void what_is_wrong_is_shown_with_what_to_do_and_exits_with_1() {
        assertThat(perdure(onDatabase("migrate", "--schema", "alone"))).isZero();
        try (PostgresStore store = PostgresStore.on(database().dataSource())
                        .schema("alone")
                        .notifications(false)
                        .open();
                Perdure client = Perdure.on(store).client()) {
            client.start(Invocation.of(ECHO, "x"), StartOptions.id("waits"));
            assertThat(perdure(onDatabase("db", "status", "--schema", "alone"))).isEqualTo(Main.FAILED);
            assertThat(out())
                    .contains("NO_WORKER: No worker is alive. Ready runs wait: 1, the oldest, 'waits', since ")
                    .contains("    To do: Start a process with a worker")
                    .containsPattern("(?m)^READY +1 +waits +\\S+");
        }
    }

    @Test
    void scripts_get_numbers() {
        try (PostgresStore store = PostgresStore.on(database().dataSource()).open();
                Perdure worker = Perdure.on(store).register(ECHO).start()) {
            worker.start(Invocation.of(ECHO, "x")).result();
            JsonNode status = json("db", "status");
            assertThat(status.at("/status/workers").asInt()).isEqualTo(1);
            assertThat(status.at("/status/bytes").asLong()).isGreaterThan(100_000);
            assertThat(status.at("/findings")).isEmpty();
            assertThat(status.at("/tables").findValuesAsString("name")).contains("run", "journal");
            assertThat(status.at("/tables/0/index_bytes").isNumber()).isTrue();
        }
    }

    @Test
    void a_schema_that_is_not_there_or_too_old_is_said_with_what_to_do() {
        assertThat(perdure(onDatabase("db", "status", "--schema", "nowhere"))).isEqualTo(Main.NO_DATABASE);
        assertThat(err()).contains("The schema 'nowhere' has not been migrated");
    }
}
