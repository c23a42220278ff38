package dev.perdure.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.torture.fault.Faults;
import dev.perdure.torture.setup.OutsideLedger.Line;
import dev.perdure.torture.setup.Phase;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What a torture says of itself: which faults had their effect, and how much was done meanwhile. */
class ReportTest {
    private static final Instant BEGIN = Instant.parse("2026-01-01T00:00:00Z");

    private static Report report(boolean demanded, Map<Faults, Report.Strikes> struck) {
        Plan plan = new Plan(
                new Plan.FaultPlan(
                        1, Duration.ZERO, Duration.ofMinutes(1), List.of(Faults.KILL, Faults.OPEN), demanded),
                Plan.Setup.of(1, Optional.empty()),
                Path.of("logs"));
        return new Report(plan, struck, List.of(), new Pace(1, 1, Duration.ZERO), List.of());
    }

    @Test
    void a_fault_without_effect_is_a_line_with_the_reason() {
        Report report = report(
                false,
                Map.of(Faults.KILL, Report.Strikes.one("process 7"), Faults.OPEN, Report.Strikes.none("it ended")));
        assertThat(report.text()).containsPattern("kill +1   process 7").containsPattern("open +0   NEVER: it ended");
        assertThat(report.missing()).isEmpty();
    }

    @Test
    void a_fault_whose_turn_did_not_come_is_a_line_too() {
        assertThat(report(false, Map.of()).text()).containsPattern("kill +0   NEVER: its turn did not come");
    }

    @Test
    void a_fault_that_was_asked_for_must_have_its_effect() {
        Report report = report(true, Map.of(Faults.KILL, Report.Strikes.one("process 7")));
        assertThat(report.missing())
                .containsExactly("The fault 'open' never had its effect: this run says nothing about it.");
    }

    @Test
    void what_was_seen_stays_when_the_fault_has_no_effect_later() {
        Report.Strikes strikes = Report.Strikes.one("process 7").and(Report.Strikes.none("it ended"));
        assertThat(report(true, Map.of(Faults.KILL, strikes)).text())
                .containsPattern("kill +1   process 7 \\(and 1 times without effect\\)");
    }

    private static Stream<Line> bodies(int fromSecond, int untilSecond, int perSecond) {
        return IntStream.range(fromSecond * perSecond, untilSecond * perSecond)
                .mapToObj(number ->
                        new Line("steps-" + number, "s", "", 1, BEGIN.plusMillis(number * 1000L / perSecond)));
    }

    private static Phase phase(int fromSecond, int untilSecond) {
        return new Phase(BEGIN.plusSeconds(fromSecond), BEGIN.plusSeconds(untilSecond));
    }

    @Test
    void work_that_slows_to_less_than_half_is_a_violation() {
        List<Line> lines = Stream.concat(bodies(0, 10, 10), bodies(10, 110, 4)).toList();
        Pace pace = Pace.of(lines, phase(0, 10), phase(10, 110), List.of());
        assertThat(pace.faulty()).isEqualTo(4);
        assertThat(pace.violation()).isPresent();
    }

    @Test
    void the_time_of_crowds_does_not_count_and_only_once_if_they_overlap() {
        List<Line> lines = Stream.of(bodies(0, 10, 10), bodies(10, 50, 10), bodies(90, 110, 10))
                .flatMap(each -> each)
                .toList();
        Pace pace = Pace.of(lines, phase(0, 10), phase(10, 110), List.of(phase(60, 90), phase(50, 80)));
        assertThat(pace.judged()).isEqualTo(Duration.ofSeconds(60));
        assertThat(pace.faulty()).isEqualTo(10);
        assertThat(pace.violation()).isEmpty();
    }

    @Test
    void each_fault_has_its_turn_before_any_comes_again() {
        List<Faults> all = Arrays.asList(Faults.values());
        FaultOrder<Faults> order = new FaultOrder<>(all, new Random(1));
        assertThat(order.hadAll()).isFalse();
        List<Faults> first = Stream.generate(order::next).limit(all.size()).toList();
        List<Faults> second = Stream.generate(order::next).limit(all.size()).toList();
        assertThat(order.hadAll()).isTrue();
        assertThat(first).containsExactlyInAnyOrderElementsOf(all).isNotEqualTo(second);
        assertThat(second).containsExactlyInAnyOrderElementsOf(all);
    }

    @Test
    void a_fault_of_several_servers_whose_turn_did_not_come_is_a_line_too() {
        ShardPlan plan =
                new ShardPlan(1, Duration.ZERO, 0, Duration.ZERO, Duration.ZERO, Duration.ZERO, 1, Path.of("logs"));
        ShardReport report = new ShardReport(
                plan,
                Map.of(ShardTorture.Kind.KILL, Report.Strikes.one("process 7")),
                List.of(),
                Duration.ZERO,
                new ShardReport.Outage(1, 1),
                List.of());
        assertThat(report.text())
                .containsPattern("kill +1   process 7")
                .containsPattern("cut_move +0   NEVER: its turn did not come");
    }
}
