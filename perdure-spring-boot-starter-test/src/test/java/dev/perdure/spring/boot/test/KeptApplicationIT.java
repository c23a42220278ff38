package dev.perdure.spring.boot.test;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

/** The application of {@link SpringTestIT}, which Spring keeps for this class, too. */
@SpringBootTest
@AutoConfigurePerdureTest
class KeptApplicationIT {
    @Test
    void the_pool_of_an_application_that_spring_keeps_holds_few_connections(@Autowired HikariDataSource pool) {
        assertThat(pool.getMinimumIdle()).isEqualTo(1);
    }
}
