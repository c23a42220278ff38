package dev.perdure.compatibility;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import dev.perdure.Run;
import dev.perdure.compatibility.Orders.Line;
import dev.perdure.compatibility.Orders.Order;
import dev.perdure.compatibility.Orders.Refused;
import dev.perdure.compatibility.Orders.Shipped;
import dev.perdure.error.ClosedException;
import dev.perdure.error.RunFailedException;
import dev.perdure.testing.PerdureExtension;
import dev.perdure.testing.PerdureTest;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tools.jackson.databind.json.JsonMapper;

/** Core and test kit as a program of this Spring Boot gets them. */
@ExtendWith(PerdureExtension.class)
class MemoryTest {
    private static PerdureTest ofATest;

    private static Order order(int count) {
        return new Order("o-1", List.of(new Line("book", count)), Optional.of(Instant.parse("2026-03-01T10:00:00Z")));
    }

    @Test
    void a_workflow_ends_after_a_crash_and_a_failed_attempt(PerdureTest perdure) {
        ofATest = perdure;
        perdure.register(new Orders());
        Run<Orders.Outcome> run = perdure.start(Orders::process, order(3));
        perdure.advance(Duration.ofHours(1));
        perdure.crash();
        assertThat(run.result()).isEqualTo(new Shipped("o-1", Instant.parse("2026-03-01T10:00:00Z"), 3));
    }

    @Test
    void a_sealed_result_comes_back(PerdureTest perdure) {
        perdure.register(new Orders());
        assertThat(perdure.start(Orders::process, order(11)).result()).isEqualTo(new Refused("Too many"));
    }

    @Test
    void a_failure_comes_back(PerdureTest perdure) {
        perdure.register(new Orders());
        Run<String> run = perdure.start(Orders::fail, "no stock");
        assertThatThrownBy(run::result).isInstanceOf(RunFailedException.class).hasMessageContaining("no stock");
    }

    @AfterAll
    static void the_extension_closed_what_it_gave_out() {
        assertThatThrownBy(() -> ofATest.settle()).isInstanceOf(ClosedException.class);
    }

    /** Otherwise this module would test nothing that the others do not. */
    @Test
    void the_versions_are_those_that_the_bom_manages() {
        assertThat(versionOf(JsonMapper.class)).isEqualTo(System.getProperty("expected.jackson"));
        assertThat(versionOf(JsonTypeInfo.class)).isEqualTo(System.getProperty("expected.jackson-annotations"));
        assertThat(versionOf(Test.class)).isEqualTo(System.getProperty("expected.junit"));
    }

    private static String versionOf(Class<?> type) {
        String jar = type.getProtectionDomain().getCodeSource().getLocation().getPath();
        return jar.replaceAll(".*-([0-9.]+)\\.jar", "$1");
    }
}
