package com.example;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.testing.PerdureExtension;
import dev.perdure.testing.PerdureTest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PerdureExtension.class)
class SignupTest {
    private final List<String> sent = new CopyOnWriteArrayList<>();

    @Test
    void sends_tips_after_three_days_although_the_worker_dies(PerdureTest perdure) {
        perdure.register(new Signup((to, text) -> sent.add(text)));
        Run<String> run = perdure.start(Signup::welcome, "ada@example.org");

        perdure.advance(Duration.ofDays(2));
        assertThat(run.state()).isEqualTo(RunState.SUSPENDED);
        assertThat(sent).containsExactly("Welcome!");

        perdure.crash(); // like kill -9; another worker takes over

        assertThat(run.result()).isEqualTo("Greeted ada@example.org");
        assertThat(sent).containsExactly("Welcome!", "Three things to try");
    }
}
