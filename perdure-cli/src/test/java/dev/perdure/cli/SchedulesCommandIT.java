package dev.perdure.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.schedule.Schedule;
import java.time.ZoneId;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class SchedulesCommandIT extends CommandsOnPostgres {
    @Test
    void schedules_are_listed_shown_paused_triggered_backfilled_and_deleted() {
        Definition<String, String> report = Definition.of("report", String.class, String.class, (ctx, in) -> in);
        assertThat(perdure(onDatabase("migrate"))).isZero();
        try (PostgresStore store = PostgresStore.on(database().dataSource())
                        .notifications(false)
                        .open();
                Perdure worker = Perdure.on(store)
                        .register(report)
                        .schedules(Schedule.cron("yearly", "0 0 1 1 *", ZoneId.of("UTC"), Invocation.of(report, "x")))
                        .start()) {
            await().until(() -> !worker.schedules().list("", 1).isEmpty());
            assertThat(perdure(onDatabase("schedules", "pause", "yearly", "--note", "audit")))
                    .isZero();
            await().until(() ->
                    worker.schedules().get("yearly").status().paused().isPresent());
            assertThat(perdure(onDatabase("schedules", "list"))).isZero();
            assertThat(perdure(onDatabase("schedules", "resume", "yearly"))).isZero();
            assertThat(perdure(onDatabase("schedules", "trigger", "yearly"))).isZero();
            assertThat(perdure(onDatabase(
                            "schedules",
                            "backfill",
                            "yearly",
                            "--from",
                            "2001-01-01T00:00:00Z",
                            "--to",
                            "2003-06-01T00:00:00Z")))
                    .isZero();
            await().until(() -> worker.schedules().get("yearly").recent().size() == 4);
            assertThat(perdure(onDatabase("schedules", "show", "yearly"))).isZero();
            JsonNode shown = json("schedules", "show", "yearly");
            assertThat(shown.at("/schedule/next")).hasSize(5);
            assertThat(shown.at("/runs/0/state").asString()).isEqualTo("COMPLETED");
            assertThat(json("schedules", "list").at("/schedules/0/when").asString())
                    .isEqualTo("on the 1st of January at 00:00 in UTC (cron 0 0 1 1 *)");
            assertThat(perdure(onDatabase("schedules", "backfill", "yearly", "--from", "then", "--to", "now")))
                    .isEqualTo(Main.WRONG_USAGE);
            assertThat(perdure(onDatabase("schedules", "skip", "yearly"))).isZero();
            assertThat(perdure(onDatabase("schedules", "reset", "yearly"))).isZero();
            assertThat(perdure(onDatabase("schedules", "delete", "yearly"))).isZero();
            await().until(() -> worker.schedules().list("", 1).isEmpty());
            assertThat(perdure(onDatabase("schedules", "show", "yearly"))).isEqualTo(Main.NO_SUCH_RUN);
        }
        assertThat(out())
                .containsPattern("yearly +report +paused: audit")
                .containsPattern("Run yearly!\\S+ is started for it\\.")
                .containsPattern("when +on the 1st of January at 00:00 in UTC \\(cron 0 0 1 1 \\*\\)")
                .containsPattern("source +CODE")
                .containsPattern("-01-01T00:00:00Z +in \\d+ days")
                .containsPattern("yearly@2001-01-01T00:00:00Z +\\d+ days ago +COMPLETED")
                .containsPattern("yearly@2003-01-01T00:00:00Z +\\d+ days ago +COMPLETED");
        assertThat(err())
                .contains("--from is 'then'. Give a time such as 2030-01-01T00:00:00Z.")
                .contains("There is no schedule 'yearly'.");
    }
}
