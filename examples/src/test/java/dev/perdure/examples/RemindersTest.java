package dev.perdure.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.examples.Reminders.Trial;
import dev.perdure.testing.PerdureExtension;
import dev.perdure.testing.PerdureTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PerdureExtension.class)
class RemindersTest {
    private final List<String> sent = new ArrayList<>();
    private final AtomicBoolean subscribed = new AtomicBoolean();
    private final Reminders reminders = new Reminders((to, subject) -> sent.add(subject), email -> subscribed.get());
    private final Trial trial = new Trial("ada@example.org");

    @Test
    void reminds_after_thirty_days(PerdureTest perdure) {
        perdure.register(reminders);
        Run<Void> run = perdure.start(Reminders::remind, trial);
        perdure.advance(Duration.ofDays(30).minusSeconds(1));
        assertThat(run.state()).isEqualTo(RunState.SUSPENDED);
        assertThat(sent).containsExactly("Welcome");
        perdure.advance(Duration.ofSeconds(1));
        assertThat(run.state()).isEqualTo(RunState.COMPLETED);
        assertThat(sent).containsExactly("Welcome", "Your trial ends tomorrow");
    }

    @Test
    void leaves_subscribers_alone(PerdureTest perdure) {
        perdure.register(reminders);
        Run<Void> run = perdure.start(Reminders::remind, trial);
        perdure.advance(Duration.ofDays(29));
        subscribed.set(true);
        run.result();
        assertThat(sent).containsExactly("Welcome");
    }

    @Test
    void keeps_its_day_through_crash_and_restart(PerdureTest perdure) {
        perdure.register(reminders);
        Run<Void> run = perdure.start(Reminders::remind, trial);
        perdure.advance(Duration.ofDays(10));
        perdure.crash();
        perdure.advance(Duration.ofDays(10));
        perdure.restart();
        run.result();
        assertThat(perdure.now()).isEqualTo("2030-01-31T00:00:00Z");
        assertThat(sent).hasSize(2);
    }
}
