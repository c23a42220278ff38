package dev.perdure.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import org.junit.jupiter.api.Test;

class MainIT extends CommandsOnPostgres {
    @Test
    void an_unknown_command_is_a_usage_error() {
        assertThat(perdure("fly")).isEqualTo(Main.WRONG_USAGE);
        assertThat(err().lines()).containsExactly("Unmatched argument at index 0: 'fly'. Try 'perdure --help'.");
    }

    @Test
    void what_is_wrong_with_a_command_line_is_one_line() {
        assertThat(perdure("runs", "list", "--state", "flying", "--url", "jdbc:postgresql://localhost/app"))
                .isEqualTo(Main.WRONG_USAGE);
        assertThat(perdure("runs", "show")).isEqualTo(Main.WRONG_USAGE);
        assertThat(perdure("runs", "list", "--limit", "0", "--url", "jdbc:postgresql://localhost/app"))
                .isEqualTo(Main.WRONG_USAGE);
        assertThat(perdure("migrate", "--print", "No-Name")).isEqualTo(Main.WRONG_USAGE);
        assertThat(perdure(onDatabase("audit", "list", "--run", "a", "--queue", "b")))
                .isEqualTo(Main.WRONG_USAGE);
        assertThat(err().lines())
                .satisfiesExactly(
                        line -> assertThat(line).contains("flying", "Try 'perdure runs list --help'."),
                        line -> assertThat(line).contains("ID", "Try 'perdure runs show --help'."),
                        line -> assertThat(line).contains("The limit is 0"),
                        line -> assertThat(line).contains("The schema name 'No-Name' is not allowed"),
                        line -> assertThat(line)
                                .contains("--run=ID, --queue=NAME are mutually exclusive (specify only one)."));
    }

    @Test
    void an_error_line_cannot_control_the_terminal() {
        assertThat(perdure("fly\033[31m\u009b")).isEqualTo(Main.WRONG_USAGE);
        assertThat(perdure(onDatabase("runs", "resolve", "any", "1", "--value", "\033]0;owned\007")))
                .isEqualTo(Main.WRONG_USAGE);
        assertThat(err()).contains("'fly [31m '", "]0;owned ").doesNotContainPattern("[\\p{Cc}&&[^\n\t]]");
    }

    @Test
    void a_missing_url_says_where_it_may_come_from() {
        assumeThat(System.getenv("PERDURE_URL")).isNull();
        assertThat(perdure("runs", "list")).isEqualTo(Main.WRONG_USAGE);
        assertThat(perdure("migrate")).isEqualTo(Main.WRONG_USAGE);
        assertThat(err().lines()).hasSize(2).allMatch(line -> line.contains("--url") && line.contains("PERDURE_URL"));
    }

    @Test
    void help_is_everywhere() {
        assertThat(perdure("--help")).isZero();
        assertThat(out()).contains("bench", "demo", "dev", "migrate", "runs", "Exit codes");
        assertThat(perdure("runs", "list", "--help")).isZero();
        assertThat(out()).contains("--url");
    }

    @Test
    void a_database_out_of_reach_is_one_clear_line_and_exit_code_3() {
        assertThat(perdure("runs", "list", "--url", "jdbc:postgresql://127.0.0.1:1/app", "--user", "app"))
                .isEqualTo(Main.NO_DATABASE);
        assertThat(err().lines()).hasSize(1);
        assertThat(err()).contains("127.0.0.1").doesNotContain("\tat ");
    }

    @Test
    void a_url_of_something_else_is_refused() {
        assertThat(perdure("runs", "list", "--url", "jdbc:mysql://localhost/app"))
                .isEqualTo(Main.WRONG_USAGE);
        assertThat(perdure("runs", "list", "--url", "jdbc:postgresql://localhost:port/app"))
                .isEqualTo(Main.WRONG_USAGE);
        assertThat(err().lines())
                .satisfiesExactly(
                        line -> assertThat(line).startsWith("'jdbc:mysql://localhost/app' is not a PostgreSQL URL."),
                        line -> assertThat(line)
                                .startsWith("'jdbc:postgresql://localhost:port/app' is not a PostgreSQL URL."));
    }

    @Test
    void migrations_can_be_read_before_they_are_run() {
        assertThat(perdure("migrate", "--print", "other")).isZero();
        assertThat(out()).contains("CREATE TABLE other.run");
        assertThat(perdure("migrate", "--print", "--schema", "another")).isZero();
        assertThat(out()).contains("CREATE TABLE another.run");
    }

    @Test
    void a_dag_is_shown_as_it_moves_and_everything_it_claims_holds() {
        assertThat(perdure("demo", "dag")).isZero();
        // As wide as the longest name that is shown at the moment.
        assertThat(out())
                .containsPattern("check +RUNNING")
                .containsPattern("charge +FAILED")
                .containsPattern("insure +SKIPPED")
                .containsPattern("ship +CANCELLED")
                .containsPattern("ship +COMPLETED")
                .contains("All checks passed.");
    }
}
