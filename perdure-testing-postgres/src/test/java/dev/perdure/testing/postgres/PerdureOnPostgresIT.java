package dev.perdure.testing.postgres;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.testing.PerdureTest;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.RepeatedTest;

@PerdureOnPostgres
class PerdureOnPostgresIT {
    private static final Definition<String, String> PATIENT =
            Definition.of("patient", String.class, String.class, (ctx, in) -> {
                ctx.sleep(Duration.ofDays(30));
                return ctx.step("greet", () -> "hello " + in);
            });

    @RepeatedTest(2) // the same id twice, because each test has its own schema
    void thirty_days_pass_in_no_time_on_a_real_server(PerdureTest perdure, DataSource database) throws Exception {
        perdure.register(PATIENT);
        Run<String> run = perdure.start(Invocation.of(PATIENT, "world"), id("one"));
        perdure.advance(Duration.ofDays(29));
        assertThat(run.resultNow()).isEmpty();
        perdure.advance(Duration.ofDays(1));
        assertThat(run.result()).isEqualTo("hello world");
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT id, state FROM perdure_1.runs")) {
            assertThat(row.next()).isTrue();
            assertThat(row.getString("id") + " " + row.getString("state")).isEqualTo("one COMPLETED");
        }
    }
}
