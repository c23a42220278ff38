package dev.perdure.benchmarks.server;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class SiteTest {
    @Test
    void user_and_password_come_from_the_url_before_they_come_from_elsewhere() {
        Site site = Site.of("jdbc:postgresql://127.0.0.1:5432/postgres?user=ann&password=secret", "bob", "other");
        assertThat(site.user()).isEqualTo("ann");
        assertThat(site.password()).isEqualTo("secret");
        assertThat(site.url()).contains("127.0.0.1:5432/postgres").doesNotContain("secret");
        assertThat(Site.of("jdbc:postgresql://127.0.0.1/postgres", "bob", "other")
                        .user())
                .isEqualTo("bob");
    }

    @Test
    void a_site_does_not_print_its_password() {
        assertThat(new Site("jdbc:postgresql://127.0.0.1/postgres", "bob", "secret"))
                .hasToString("Site[jdbc:postgresql://127.0.0.1/postgres]");
    }
}
