package dev.perdure.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Perdure;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.retention.Retention;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class RetentionCommandIT extends CommandsOnPostgres {
    @Test
    void retention_is_shown_changed_and_reset() {
        try (PostgresStore store = PostgresStore.on(database().dataSource()).open();
                Perdure perdure =
                        Perdure.on(store).retention(Retention.days(10)).client()) {
            assertThat(perdure(onDatabase(
                            "retention",
                            "change",
                            "--all",
                            "7d",
                            "--definition",
                            "audit=forever",
                            "--outcome",
                            "FAILED=P90D",
                            "--ids",
                            "12h")))
                    .isZero();
            assertThat(perdure(onDatabase("retention", "show"))).isZero();
            String changed = "definition 'audit' forever; outcome FAILED PT2160H; all others PT168H; ids PT12H";
            assertThat(out())
                    .contains("Runs are kept so: " + changed + ".", "declared   all PT240H", "changed    " + changed)
                    .contains("last pass  none yet", "looked     0", "removed    0", "next pass  now");
            JsonNode shown = json("retention", "show").get("retention");
            assertThat(shown.get("changed").asString()).isEqualTo(changed);
            assertThat(shown.get("last_pass").isNull()).isTrue();
            assertThat(shown.get("removed").asInt()).isZero();
            assertThat(perdure(onDatabase("retention", "reset"))).isZero();
            assertThat(perdure.retention().info().effective()).isEqualTo(Retention.days(10));
            assertThat(perdure(onDatabase("retention", "change", "--all", "a week")))
                    .isEqualTo(Main.WRONG_USAGE);
            assertThat(perdure(onDatabase("retention", "change"))).isEqualTo(Main.WRONG_USAGE);
            assertThat(err().lines())
                    .satisfiesExactly(
                            line -> assertThat(line).contains("--all is 'a week'. Give a period, such as 30d"),
                            line -> assertThat(line).contains("--all is missing. Give the period"));
        }
    }
}
