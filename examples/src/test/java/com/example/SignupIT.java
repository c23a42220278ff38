package com.example;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Run;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.postgres.PerdureOnPostgres;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

@PerdureOnPostgres
class SignupIT {
    private final List<String> sent = new CopyOnWriteArrayList<>();

    @Test
    void sends_tips_after_three_days_on_a_real_postgres(PerdureTest perdure) {
        perdure.register(new Signup((to, text) -> sent.add(text)));
        Run<String> run = perdure.start(Signup::welcome, "ada@example.org");

        perdure.advance(Duration.ofDays(2));
        assertThat(sent).containsExactly("Welcome!");

        perdure.crash();

        assertThat(run.result()).isEqualTo("Greeted ada@example.org");
        assertThat(sent).containsExactly("Welcome!", "Three things to try");
    }
}
