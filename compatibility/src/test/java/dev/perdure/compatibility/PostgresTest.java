package dev.perdure.compatibility;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Run;
import dev.perdure.compatibility.Orders.Line;
import dev.perdure.compatibility.Orders.Order;
import dev.perdure.compatibility.Orders.Shipped;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.postgres.PerdureOnPostgres;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The store with the driver that this Spring Boot manages. */
@PerdureOnPostgres
class PostgresTest {
    @Test
    void a_workflow_ends_after_a_crash_and_a_failed_attempt(PerdureTest perdure) {
        Instant wanted = Instant.parse("2026-03-01T10:00:00Z");
        perdure.register(new Orders());
        Run<Orders.Outcome> run = perdure.start(
                Orders::process, new Order("o-1", List.of(new Line("book", 3)), Optional.of(wanted)));
        perdure.advance(Duration.ofHours(1));
        perdure.crash();
        assertThat(run.result()).isEqualTo(new Shipped("o-1", wanted, 3));
    }
}
