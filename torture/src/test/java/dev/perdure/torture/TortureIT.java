package dev.perdure.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.torture.fault.Faults;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A few faults for {@code verify}, each of them for {@code -Pthorough}, and what {@code ./perdure torture} says. */
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class TortureIT {
    private final ByteArrayOutputStream said = new ByteArrayOutputStream();
    private final PrintStream out = new PrintStream(said, true, StandardCharsets.UTF_8);

    @TempDir
    private Path logs;

    @Test
    void every_invariant_holds_after_a_kill_lost_answers_and_a_crash_of_the_server() throws Exception {
        every_invariant_holds_after(List.of(Faults.KILL, Faults.CUT, Faults.RESTART), 2);
    }

    @Test
    @Tag("thorough")
    void every_invariant_holds_after_each_fault() throws Exception {
        every_invariant_holds_after(Arrays.asList(Faults.values()), 4);
    }

    private void every_invariant_holds_after(List<Faults> faults, int workers) throws Exception {
        Plan plan = new Plan(
                new Plan.FaultPlan(42, Duration.ofSeconds(1), Duration.ZERO, faults, false),
                Plan.Setup.of(workers, Optional.empty()),
                logs);
        try (Torture torture = new Torture(plan, out)) {
            Report report = torture.run();
            System.out.println(report.text());
            assertThat(report.violations()).isEmpty();
            assertThat(report.done())
                    .allSatisfy(done -> assertThat(done.pieces()).isPositive());
            assertThat(report.struck().values())
                    .filteredOn(strikes -> strikes.without() > 0)
                    .allSatisfy(strikes -> assertThat(strikes.last()).contains("only root can mount"));
            assertThat(report.struck().keySet()).containsAll(faults);
        }
    }

    @Test
    void a_mistake_on_the_command_line_is_named() throws Exception {
        assertThat(Main.run(new String[] {"--faults", "kill,flood"}, out)).isEqualTo(2);
        assertThat(said.toString(StandardCharsets.UTF_8))
                .startsWith("'flood' is no fault. Give one or more of [kill, stop,")
                .contains("Usage: perdure torture");
    }

    @Test
    void a_number_out_of_bounds_is_refused() throws Exception {
        assertThat(Main.run(new String[] {"--workers", "0"}, out)).isEqualTo(2);
        assertThat(said.toString(StandardCharsets.UTF_8))
                .startsWith("The value '0' of '--workers' is not a whole number from 1 to 50.");
    }

    @Test
    void a_folder_without_an_older_version_is_refused() throws Exception {
        assertThat(Main.run(new String[] {"--older", logs.toString()}, out)).isEqualTo(2);
        assertThat(said.toString(StandardCharsets.UTF_8))
                .startsWith("'%s' is no checkout with a built 'perdure torture'.".formatted(logs))
                .contains("Run './perdure torture --help' there first.");
    }

    @Test
    void the_help_names_every_fault() throws Exception {
        assertThat(Main.run(new String[] {"--help"}, out)).isZero();
        assertThat(said.toString(StandardCharsets.UTF_8))
                .contains(Faults.words())
                .contains("kills a worker with SIGKILL");
    }
}
