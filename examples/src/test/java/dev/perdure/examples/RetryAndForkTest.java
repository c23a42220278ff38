package dev.perdure.examples;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.ForkOptions;
import dev.perdure.Invocation;
import dev.perdure.Repair;
import dev.perdure.Run;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.TerminalException;
import dev.perdure.testing.PerdureTest;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** The code that the documentation of retry and fork quotes. */
class RetryAndForkTest {
    @Test
    void a_failed_run_goes_on() {
        AtomicBoolean down = new AtomicBoolean(true);
        Definition<String, String> order = Definition.of("order", String.class, String.class, (ctx, item) -> {
            ctx.step("charge", () -> {});
            return ctx.step("ship", () -> {
                if (down.get()) {
                    throw new TerminalException("the carrier is down");
                }
                return "shipped " + item;
            });
        });
        try (PerdureTest perdure = PerdureTest.create().register(order)) {
            Run<String> run = perdure.start(Invocation.of(order, "book"), id("order-42"));
            assertThatThrownBy(run::result).isInstanceOf(RunFailedException.class);
            down.set(false);
            // region repair
            run.retry();
            Run<String> again = run.fork(ForkOptions.from(2).id("order-42-again"));
            // endregion
            assertThat(run.result()).isEqualTo("shipped book");
            assertThat(again.result()).isEqualTo("shipped book");
        }
    }

    @Test
    void a_step_is_repaired() {
        Definition<String, String> order = Definition.of("order", String.class, String.class, (ctx, item) -> {
            ctx.step("charge", () -> {});
            return ctx.step("ship", () -> {
                throw new TerminalException("the carrier is down");
            });
        });
        try (PerdureTest perdure = PerdureTest.create().register(order)) {
            Run<String> run = perdure.start(Invocation.of(order, "book"), id("order-42"));
            assertThatThrownBy(run::result).isInstanceOf(RunFailedException.class);
            // region step
            run.repair(Repair.result(2, "shipped by hand", "the carrier is closed"));
            run.retry();
            // endregion
            assertThat(run.result()).isEqualTo("shipped by hand");
        }
    }
}
