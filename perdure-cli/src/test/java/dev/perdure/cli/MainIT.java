package dev.perdure.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Perdure;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class MainIT {
    private static SharedPostgres.Fresh database;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @BeforeAll
    static void open() {
        database = SharedPostgres.database("cli");
    }

    @AfterAll
    static void close() {
        database.close();
    }

    private int perdure(String... args) {
        CommandLine commandLine = Main.commandLine()
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .setColorScheme(CommandLine.Help.defaultColorScheme(CommandLine.Help.Ansi.OFF));
        return commandLine.execute(args);
    }

    private String[] onDatabase(String... args) {
        Stream<String> where =
                Stream.of("--url", database.jdbcUrl(), "--user", database.user(), "--password", database.password());
        return Stream.concat(Stream.of(args), where).toArray(String[]::new);
    }

    @Test
    void an_unknown_command_is_a_usage_error() {
        assertThat(perdure("fly")).isEqualTo(2);
        assertThat(err.toString()).contains("fly");
    }

    @Test
    void help_is_everywhere() {
        assertThat(perdure("--help")).isZero();
        assertThat(out.toString()).contains("bench", "demo", "dev", "migrate", "runs", "Exit codes");
        assertThat(perdure("runs", "list", "--help")).isZero();
        assertThat(out.toString()).contains("--url");
    }

    @Test
    void a_database_out_of_reach_is_one_clear_line_and_exit_code_3() {
        assertThat(perdure("runs", "list", "--url", "jdbc:postgresql://127.0.0.1:1/app", "--user", "app"))
                .isEqualTo(Main.NO_DATABASE);
        assertThat(err.toString().lines()).hasSize(1);
        assertThat(err.toString()).contains("127.0.0.1").doesNotContain("\tat ");
    }

    @Test
    void a_url_of_something_else_is_refused() {
        assertThat(perdure("runs", "list", "--url", "jdbc:mysql://localhost/app"))
                .isEqualTo(Main.NO_DATABASE);
        assertThat(err.toString()).contains("'jdbc:mysql://localhost/app' is not a PostgreSQL URL");
    }

    @Test
    void migrations_can_be_read_before_they_are_run() {
        assertThat(perdure("migrate", "--print", "other")).isZero();
        assertThat(out.toString()).contains("CREATE TABLE other.run");
    }

    @Test
    void a_graph_is_shown_as_it_moves_and_everything_it_claims_holds() {
        assertThat(perdure("demo", "dag")).isZero();
        assertThat(out.toString())
                .contains(
                        "check   RUNNING",
                        "charge  FAILED",
                        "insure  SKIPPED",
                        "ship    CANCELLED",
                        "ship    COMPLETED")
                .contains("All of it held.");
    }

    @Test
    void runs_are_listed_shown_cancelled_and_resumed() {
        assertThat(perdure(onDatabase("migrate"))).isZero();
        Definition<String, String> waits = Definition.of("waits", String.class, String.class, (ctx, in) -> in);
        try (PostgresStore store = PostgresStore.on(database.dataSource())
                        .notifications(false)
                        .open();
                Perdure client = Perdure.on(store).client()) {
            var run = client.start(waits, "x", StartOptions.id("run-1"));
            run.pause("to look at it");
            assertThat(perdure(onDatabase("runs", "list", "--state", "paused"))).isZero();
            assertThat(out.toString()).contains("run-1", "waits", "PAUSED", "to look at it");
            assertThat(perdure(onDatabase("runs", "show", "run-1"))).isZero();
            assertThat(out.toString()).contains("definition  waits");
            assertThat(perdure(onDatabase("runs", "resume", "run-1"))).isZero();
            assertThat(run.state()).isEqualTo(RunState.READY);
            assertThat(perdure(onDatabase("runs", "cancel", "run-1", "--reason", "not wanted")))
                    .isZero();
            assertThat(run.state()).isEqualTo(RunState.CANCELLED);
        }
        assertThat(perdure(onDatabase("runs", "show", "nobody"))).isEqualTo(Main.NO_SUCH_RUN);
        assertThat(err.toString()).contains("There is no run 'nobody'");
    }
}
