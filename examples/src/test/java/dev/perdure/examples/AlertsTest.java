package dev.perdure.examples;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.error.TerminalException;
import dev.perdure.reaction.ReactionInfo;
import dev.perdure.testing.PerdureTest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class AlertsTest {
    private static final Definition<String, String> ORDER = Definition.of(
            "order",
            String.class,
            String.class,
            (ctx, item) -> ctx.step("charge", () -> {
                if (item.equals("gold")) {
                    throw new TerminalException("The card was declined");
                }
                return item;
            }));
    private static final Definition<Duration, String> SLOW =
            Definition.of("slow", Duration.class, String.class, (ctx, time) -> {
                ctx.sleep(time);
                return "done";
            });

    private final List<String> pages = new CopyOnWriteArrayList<>();
    private final List<String> letters = new CopyOnWriteArrayList<>();
    private final Alerts alerts = new Alerts((text, key) -> pages.add(text), (run, reason) -> letters.add(run));

    private PerdureTest kit() {
        return PerdureTest.create().register(ORDER, SLOW, alerts).reactions(Alerts.ALERT, Alerts.DEAD_LETTER);
    }

    @Test
    void a_failed_order_pages_a_person_and_is_kept() {
        try (PerdureTest perdure = kit()) {
            perdure.start(Invocation.of(ORDER, "lamp"), id("order-41"));
            perdure.start(Invocation.of(ORDER, "gold"), id("order-42"));
            perdure.settle();
            assertThat(pages)
                    .singleElement()
                    .asString()
                    .startsWith("order-42 is FAILED: ")
                    .contains("declined");
            assertThat(letters).containsExactly("order-42");
        }
    }

    @Test
    void a_late_run_pages_a_person_once() {
        try (PerdureTest perdure = kit()) {
            Run<String> slow = perdure.start(Invocation.of(SLOW, Duration.ofDays(1)), id("slow-1"));
            Run<String> quick = perdure.start(Invocation.of(SLOW, Duration.ofMinutes(1)));
            assertThat(quick.result()).isEqualTo("done");
            assertThat(slow.result()).isEqualTo("done");
            assertThat(pages).containsExactly("slow-1 is LATE: The run is SUSPENDED.");
        }
    }

    @Test
    void a_paused_run_pages_a_person() {
        try (PerdureTest perdure = kit()) {
            Run<String> slow = perdure.start(Invocation.of(SLOW, Duration.ofMinutes(5)), id("slow-1"));
            perdure.settle();
            slow.pause("a look at it");
            perdure.settle();
            assertThat(pages).containsExactly("slow-1 is PAUSED: a look at it");
        }
    }

    @Test
    void an_engine_declares_them() {
        try (Perdure perdure = Alerts.engine(alerts, ORDER)) {
            // region operate
            perdure.reactions().pause("alert", "planned maintenance until noon");
            List<ReactionInfo> reactions = perdure.reactions().list();
            // endregion
            assertThat(reactions).extracting(ReactionInfo::name).containsExactly("alert", "dead-letter");
        }
    }
}
