package dev.perdure;

import static dev.perdure.retention.Retention.FOREVER;
import static dev.perdure.retention.Retention.runs;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.retention.Retention;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RetentionTest {
    private static final Duration DAY = Duration.ofDays(1);

    @Test
    void the_first_rule_that_matches_counts() {
        Retention retention = Retention.days(30)
                .keep(runs().definition("a").outcome(RunState.FAILED), FOREVER)
                .keep(runs().definition("a"), DAY)
                .keep(runs().queue("q"), DAY.multipliedBy(2));

        assertThat(retention.period("a", "q", RunState.FAILED)).isEqualTo(FOREVER);
        assertThat(retention.period("a", "q", RunState.COMPLETED)).isEqualTo(DAY);
        assertThat(retention.period("b", "q", RunState.COMPLETED)).isEqualTo(DAY.multipliedBy(2));
        assertThat(retention.period("b", "default", RunState.SKIPPED)).isEqualTo(DAY.multipliedBy(30));
        assertThat(retention.shortest()).isEqualTo(DAY);
        assertThat(retention)
                .hasToString(
                        "definition 'a', outcome FAILED forever; definition 'a' PT24H; queue 'q' PT48H; all others PT720H");
    }

    @Test
    void settings_give_the_same_retention_back() {
        Retention retention = Retention.of(FOREVER)
                .keep(runs().definition("a b").queue("q"), Duration.ofMillis(1500))
                .keep(runs().outcome(RunState.CANCELLED), FOREVER)
                .rememberIds(DAY)
                .keepAudit(DAY.multipliedBy(365));

        assertThat(Retention.of(retention.settings())).isEqualTo(retention);
        assertThat(Retention.of(Retention.standard().settings())).isEqualTo(Retention.standard());
        assertThat(retention).isNotEqualTo(Retention.standard());
    }

    @Test
    void a_change_replaces_the_rules_but_leaves_ids_and_audit_as_declared_unless_it_names_them() {
        Retention declared = Retention.days(30)
                .keep(runs().definition("a"), FOREVER)
                .rememberIds(DAY.multipliedBy(400))
                .keepAudit(FOREVER);

        assertThat(Retention.days(7).inPlaceOf(declared)).hasToString("all PT168H; ids PT9600H; audit forever");
        assertThat(Retention.days(7)
                        .rememberIds(DAY)
                        .keepAudit(DAY.multipliedBy(365))
                        .inPlaceOf(declared))
                .hasToString("all PT168H; ids PT24H; audit PT8760H");
        assertThat(Retention.days(7).inPlaceOf(Retention.standard()).audit()).isEqualTo(DAY.multipliedBy(365));
    }

    @Test
    void what_makes_no_sense_is_refused() {
        assertThatThrownBy(() -> Retention.of(Duration.ofMillis(999)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("The retention period is PT0.999S; it is at least PT1S, or FOREVER.");
        assertThatThrownBy(() -> runs().outcome(RunState.PAUSED))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("A run does not end as PAUSED. Give COMPLETED, FAILED, CANCELLED or SKIPPED.");
        assertThatThrownBy(() -> runs().definition("")).isInstanceOf(InvalidRequestException.class);
    }
}
