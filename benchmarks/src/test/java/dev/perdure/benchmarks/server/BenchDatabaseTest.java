package dev.perdure.benchmarks.server;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class BenchDatabaseTest {
    @Test
    void user_and_password_come_from_the_url_before_they_come_from_elsewhere() {
        BenchDatabase database =
                BenchDatabase.of("jdbc:postgresql://127.0.0.1:5432/postgres?user=ann&password=secret", "bob", "other");
        assertThat(database.user()).isEqualTo("ann");
        assertThat(database.password()).isEqualTo("secret");
        assertThat(database.url()).contains("127.0.0.1:5432/postgres").doesNotContain("secret");
        assertThat(BenchDatabase.of("jdbc:postgresql://127.0.0.1/postgres", "bob", "other")
                        .user())
                .isEqualTo("bob");
    }

    @Test
    void a_site_does_not_print_its_password() {
        assertThat(new BenchDatabase("jdbc:postgresql://127.0.0.1/postgres", "bob", "secret"))
                .hasToString("BenchDatabase[jdbc:postgresql://127.0.0.1/postgres]");
    }
}
