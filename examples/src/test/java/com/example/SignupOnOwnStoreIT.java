package com.example;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Run;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Store;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SignupOnOwnStoreIT {
    private final SharedPostgres.Fresh database = SharedPostgres.database("signup");
    private final List<String> sent = new CopyOnWriteArrayList<>();

    private Store store(Clockwork clockwork) {
        return PostgresStore.on(database.dataSource())
                .notifications(false)
                .time(clockwork::now)
                .open();
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void sends_tips_after_three_days_on_a_store_of_its_own() {
        try (PerdureTest perdure = PerdureTest.on(this::store, TestMode.NORMAL)) {
            perdure.register(new Signup((to, text) -> sent.add(text)));
            Run<String> run = perdure.start(Signup::welcome, "ada@example.org");

            perdure.advance(Duration.ofDays(2));
            assertThat(sent).containsExactly("Welcome!");

            perdure.crash();

            assertThat(run.result()).isEqualTo("Greeted ada@example.org");
            assertThat(sent).containsExactly("Welcome!", "Three things to try");
        }
    }
}
