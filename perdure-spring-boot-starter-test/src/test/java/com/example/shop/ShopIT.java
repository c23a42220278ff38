package com.example.shop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Perdure;
import dev.perdure.RunId;
import dev.perdure.TypeRef;
import dev.perdure.embedded.SharedPostgres;
import java.time.Duration;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** The application of the guide, and its test. */
class ShopIT {
    @Nested
    class TheTestOfTheGuide extends ShopApplicationTests {}

    @Test
    void it_runs() {
        try (SharedPostgres.Fresh database = SharedPostgres.database("guide");
                ConfigurableApplicationContext context = SpringApplication.run(
                        ShopApplication.class,
                        "--spring.main.banner-mode=off",
                        "--spring.datasource.url=" + database.jdbcUrl(),
                        "--spring.datasource.username=" + database.user(),
                        "--spring.datasource.password=" + database.password())) {
            assertThat(context.getBean(Perdure.class)
                            .run(RunId.of("order-1"), TypeRef.of(String.class))
                            .result(Duration.ofSeconds(30)))
                    .isEqualTo("PAY-book, TRACK-book");
        }
    }
}
