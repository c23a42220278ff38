package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Awakeable;
import dev.perdure.Definition;
import dev.perdure.HistoryEvent;
import dev.perdure.HistoryEvent.Status;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.Topic;
import dev.perdure.interceptor.Interceptor;
import dev.perdure.interceptor.SendCall;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What an interceptor gives messages, answers and events, and where the run that gets them has it. */
abstract class SentHeaderScenarios extends Scenarios {
    private static final Topic<String> PAID = Topic.of("paid", String.class);
    private static final Topic<String> SIGNED = Topic.of("signed", String.class);
    private static final Topic<String> STOCK = Topic.of("stock", String.class);

    private final List<String> sent = new CopyOnWriteArrayList<>();

    /** Numbers what is sent. */
    private final class Numbers implements Interceptor {
        @Override
        public SendCall send(SendCall call) {
            sent.add("%s '%s' to %s by %s"
                    .formatted(
                            call.kind(),
                            call.name(),
                            call.to().map(RunId::value).orElse("whom it concerns"),
                            call.sentBy().map(RunId::value).orElse("a caller")));
            return call.with("number", String.valueOf(sent.size())).with("from", "a test");
        }
    }

    private static List<String> headersIn(Run<?> run) {
        return run.history().stream()
                .filter(event -> event.status() == Status.HEADERS)
                .map(HistoryEvent::text)
                .toList();
    }

    @ParameterizedTest
    @EnumSource
    void what_callers_send_arrives_with_its_headers(TestMode mode) {
        AtomicReference<String> token = new AtomicReference<>();
        Definition<String, String> flow = workflow("flow", (ctx, in) -> {
            Awakeable<String> awakeable = ctx.awakeable(String.class);
            token.set(awakeable.token());
            var stock = ctx.event(STOCK);
            String paid = ctx.receive(PAID).await() + ctx.receive(PAID).await();
            return paid + ctx.promise(SIGNED).await() + awakeable.await() + stock.await();
        });
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow).interceptor(new Numbers());
            Run<String> run = perdure.start(Invocation.of(flow, ""), id("r").message(PAID, "1"));
            perdure.settle();
            run.send(PAID, "2");
            perdure.crash();
            run.promise(SIGNED).resolve("3");
            perdure.resolve(token.get(), "4");
            perdure.emit(STOCK, "5");
            assertThat(run.result()).isEqualTo("12345");
            assertThat(sent)
                    .containsExactly(
                            "MESSAGE 'paid' to r by a caller",
                            "MESSAGE 'paid' to r by a caller",
                            "PROMISE 'signed' to r by a caller",
                            "AWAKEABLE '' to whom it concerns by a caller",
                            "EVENT 'stock' to whom it concerns by a caller");
            assertThat(headersIn(run))
                    .containsExactlyInAnyOrder(
                            "message 'paid' came with headers: from=a test, number=1",
                            "message 'paid' came with headers: from=a test, number=2",
                            "promise 'signed' came with headers: from=a test, number=3",
                            "awakeable came with headers: from=a test, number=4",
                            "event 'stock' came with headers: from=a test, number=5");
        }
    }

    @ParameterizedTest
    @EnumSource
    void what_a_run_sends_arrives_with_its_headers_and_a_replay_sends_nothing(TestMode mode) {
        AtomicReference<String> token = new AtomicReference<>("");
        Definition<String, String> flow = workflow("flow", (ctx, in) -> {
            Awakeable<String> awakeable = ctx.awakeable(String.class);
            token.set(awakeable.token());
            var stock = ctx.event(STOCK);
            String paid = ctx.receive(PAID).await();
            return paid + ctx.promise(SIGNED).await() + awakeable.await() + stock.await();
        });
        Definition<String, String> sender = workflow("sender", (ctx, in) -> {
            RunId to = RunId.of("r");
            ctx.send(to, PAID, "1");
            ctx.promise(to, SIGNED).resolve("2");
            ctx.resolve(in, "3");
            ctx.emit(STOCK, "4");
            ctx.sleep(Duration.ofDays(1));
            return ctx.step("after", () -> in);
        });
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow, sender).interceptor(new Numbers());
            Run<String> run = perdure.start(Invocation.of(flow, ""), id("r"));
            perdure.settle();
            Run<String> sends = perdure.start(Invocation.of(sender, token.get()), id("s"));
            perdure.settle();
            perdure.crash();
            assertThat(sends.result()).isEqualTo(token.get());
            assertThat(run.result()).isEqualTo("1234");
            assertThat(sent)
                    .as("none of them again on a replay")
                    .containsExactly(
                            "MESSAGE 'paid' to r by s",
                            "PROMISE 'signed' to r by s",
                            "AWAKEABLE '' to whom it concerns by s",
                            "EVENT 'stock' to whom it concerns by s");
            assertThat(headersIn(run))
                    .containsExactlyInAnyOrder(
                            "message 'paid' came with headers: from=a test, number=1",
                            "promise 'signed' came with headers: from=a test, number=2",
                            "awakeable came with headers: from=a test, number=3",
                            "event 'stock' came with headers: from=a test, number=4");
        }
    }

    @ParameterizedTest
    @EnumSource
    void without_headers_nothing_more_is_recorded(TestMode mode) {
        Definition<String, String> flow =
                workflow("flow", (ctx, in) -> ctx.receive(PAID).await());
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow).interceptor(new Interceptor() {});
            Run<String> run = perdure.start(Invocation.of(flow, ""), id("r").message(PAID, "1"));
            assertThat(run.result()).isEqualTo("1");
            assertThat(run.history())
                    .filteredOn(event -> event.position() > 0)
                    .extracting(HistoryEvent::text)
                    .containsExactly("message 'paid' received");
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_interceptor_that_refuses_a_message_lets_nothing_be_sent(TestMode mode) {
        Interceptor refusing = new Interceptor() {
            @Override
            public SendCall send(SendCall call) {
                throw new SecurityException("nobody is logged in");
            }
        };
        Definition<String, String> flow =
                workflow("flow", (ctx, in) -> ctx.receive(PAID).await());
        Definition<String, String> sender = workflow("sender", (ctx, in) -> {
            ctx.send(RunId.of("r"), PAID, "1");
            return in;
        });
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow, sender).interceptor(refusing);
            Run<String> run = perdure.start(Invocation.of(flow, ""), id("r"));
            Run<String> sends = perdure.start(Invocation.of(sender, ""), id("s"));
            perdure.settle();
            assertThatThrownBy(() -> run.send(PAID, "1"))
                    .isInstanceOf(SecurityException.class)
                    .hasMessage("nobody is logged in");
            assertThat(run.state()).isEqualTo(RunState.SUSPENDED);
            assertThat(sends.state()).isEqualTo(RunState.PAUSED);
            assertThat(sends.info().reason())
                    .contains(
                            "An interceptor threw java.lang.SecurityException: nobody is logged in when run 's' sent something to another run. Fix the interceptor, deploy that, then resume the run.");
        }
    }
}
