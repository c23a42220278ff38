package dev.perdure.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.bulk.BulkReport;
import dev.perdure.postgres.PostgresStore;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class BulkCommandIT extends CommandsOnPostgres {
    private static final Definition<String, String> WAITS =
            Definition.of("waits", String.class, String.class, (ctx, in) -> in);

    @BeforeEach
    void migrate() {
        assertThat(perdure(onDatabase("migrate"))).isZero();
    }

    private static void start(Perdure client, String prefix, int runs) {
        client.startAll(
                IntStream.range(0, runs).boxed().toList(),
                i -> Invocation.of(WAITS, "x"),
                i -> StartOptions.id(prefix + i).queue("nobody"));
    }

    @Test
    void a_dry_run_counts_and_the_action_waits_for_a_worker_of_the_application() {
        withClient(client -> {
            start(client, "dry-", 3);
            assertThat(perdure(onDatabase("runs", "bulk", "pause", "--id", "dry-", "--dry-run")))
                    .isZero();
            assertThat(out())
                    .containsPattern("(?m)^READY +3$")
                    .contains("Nothing was changed. Leave out --dry-run to do it.");

            JsonNode started = json("runs", "bulk", "pause", "--id", "dry-", "--why", "look", "--by", "anna");
            String id = started.at("/run/id").asString();
            assertThat(started.at("/message").asString())
                    .isEqualTo(
                            "The bulk action %s is started. A worker of the application does it; './perdure runs show %s --watch' shows how far it is."
                                    .formatted(id, id));
            assertThat(started.at("/run/state").asString()).isEqualTo("READY");
            assertThat(perdure(onDatabase("runs", "show", id))).isZero();
            assertThat(out()).containsPattern("no live worker|No live worker");

            try (PostgresStore store = PostgresStore.on(database().dataSource()).open();
                    Perdure worker = Perdure.on(store).start()) {
                assertThat(worker.run(RunId.of(id), TypeRef.of(BulkReport.class))
                                .result()
                                .changed())
                        .isEqualTo(3);
            }
            assertThat(perdure(onDatabase("runs", "show", id))).isZero();
            assertThat(out())
                    .contains("pause: 3 of about 3 runs: 3 changed, 0 skipped, 0 refused", "by anna@")
                    .contains("pause runs with id_prefix=dry-");
            assertThat(perdure(onDatabase("audit", "list", "--run", "dry-0"))).isZero();
            assertThat(out()).contains("in %s: look".formatted(id));
        });
    }

    @Test
    void the_report_is_printed_when_the_command_waits() {
        try (PostgresStore store = PostgresStore.on(database().dataSource()).open();
                Perdure worker = Perdure.on(store).start()) {
            start(worker, "wait-", 2);
            start(worker, "moved-", 1);
            assertThat(perdure(onDatabase("runs", "bulk", "kill", "--id", "wait-", "--wait")))
                    .isZero();
            assertThat(out())
                    .containsPattern("The bulk action bulk:\\S+ has ended: 2 changed, 0 skipped, 0 refused\\.");
            assertThat(worker.runs(RunFilter.all().idPrefix("wait-").state(RunState.CANCELLED))
                            .list())
                    .hasSize(2);
            assertThat(json("runs", "bulk", "delete", "--id", "wait-1", "--wait")
                            .at("/report/changed")
                            .asInt())
                    .isEqualTo(1);
            assertThat(json("runs", "bulk", "move-to-queue", "--to", "slow", "--id", "moved-", "--wait")
                            .at("/report/changed")
                            .asInt())
                    .isEqualTo(1);
            JsonNode retried = json("runs", "bulk", "retry", "--id", "wait-", "--why", "once more", "--wait");
            assertThat(retried.at("/report/changed").asInt()).isEqualTo(1);
            assertThat(retried.at("/refusals").isEmpty()).isTrue();
        }
    }

    @Test
    void a_wrong_command_line_says_what_to_do() {
        assertThat(perdure(onDatabase("runs", "bulk", "cancel"))).isEqualTo(Main.WRONG_USAGE);
        assertThat(perdure(onDatabase("runs", "bulk", "explode", "--all"))).isEqualTo(Main.WRONG_USAGE);
        assertThat(perdure(onDatabase("runs", "bulk", "resume", "--all", "--why", "no")))
                .isEqualTo(Main.WRONG_USAGE);
        assertThat(perdure(onDatabase("runs", "bulk", "retry", "--state", "running")))
                .isEqualTo(Main.WRONG_USAGE);
        assertThat(perdure(onDatabase("runs", "bulk", "move-to-queue", "--all")))
                .isEqualTo(Main.WRONG_USAGE);
        assertThat(perdure(onDatabase("runs", "bulk", "resume", "--all", "--to", "x")))
                .isEqualTo(Main.WRONG_USAGE);
        assertThat(err())
                .contains("The action move-to-queue needs a target. Give --to NAME.")
                .contains("The action resume moves nothing. Leave --to out.")
                .contains(
                        "No condition is given, so this would be for all runs. Give one, such as --definition NAME, or --all.")
                .contains(
                        "There is no action 'explode'. Choose one of cancel, kill, pause, resume, retry, rerun, fork, delete, move-to-queue, move-to-version.")
                .contains("The action resume takes no reason. Leave --why out.")
                .contains(
                        "The bulk action RETRY is for runs in the states [FAILED, CANCELLED]; the filter selects only [RUNNING].");
    }
}
