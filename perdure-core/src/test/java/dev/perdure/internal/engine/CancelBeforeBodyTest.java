package dev.perdure.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.StepBody;
import dev.perdure.StepOptions;
import dev.perdure.TypeRef;
import dev.perdure.error.RunFailedException;
import dev.perdure.memory.MemoryStore;
import dev.perdure.queue.Limiter;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.Permits;
import java.lang.reflect.Proxy;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A request that reaches a run after its thread has looked for requests and before the body of its step begins: while
 * the thread asks for a permit.
 */
@Timeout(60)
final class CancelBeforeBodyTest {
    private static final Limiter PARTNER = Limiter.named("partner").concurrency(1);
    private static final RunId RUN = RunId.of("one");

    private final MemoryStore rows = new MemoryStore();
    private final AtomicBoolean requested = new AtomicBoolean();
    private final AtomicBoolean polled = new AtomicBoolean();
    private final CountDownLatch heard = new CountDownLatch(1);
    private final AtomicBoolean began = new AtomicBoolean();
    private Consumer<Run<String>> request = run -> {};
    private Perdure engine;

    /** Before it answers the first time, the run gets the request, and its worker knows of it. */
    private Permits slow() {
        return (Permits) Proxy.newProxyInstance(
                Permits.class.getClassLoader(), new Class<?>[] {Permits.class}, (self, method, arguments) -> {
                    if (method.getName().equals("take") && requested.compareAndSet(false, true)) {
                        request.accept(engine.run(RUN, TypeRef.of(String.class)));
                        assertThat(heard.await(30, TimeUnit.SECONDS)).isTrue();
                    }
                    return method.invoke(rows.permits(), arguments);
                });
    }

    /** Tells when the worker polls again after a poll that brought the request: then it has signalled the run. */
    private Dispatch watched() {
        return (Dispatch) Proxy.newProxyInstance(
                Dispatch.class.getClassLoader(), new Class<?>[] {Dispatch.class}, (self, method, arguments) -> {
                    if (polled.get()) {
                        heard.countDown();
                    }
                    Object answer = method.invoke(rows.dispatch(), arguments);
                    if (answer instanceof Dispatch.Polled news
                            && !news.signalled().isEmpty()) {
                        polled.set(true);
                    }
                    return answer;
                });
    }

    private Run<String> started(boolean beside) {
        AtomicBoolean body = began;
        Definition<String, String> workflow = Definition.of("limited", String.class, String.class, (ctx, in) -> {
            StepBody<String> endless = () -> {
                body.set(true);
                new CountDownLatch(1).await();
                return "never";
            };
            StepOptions limited = StepOptions.limit(PARTNER);
            return beside ? ctx.stepAsync("call", endless, limited).await() : ctx.step("call", endless, limited);
        });
        engine = Perdure.on(Stores.with(Stores.with(rows, "permits", slow()), "dispatch", watched()))
                .register(workflow)
                .start();
        engine.limiters().declare(PARTNER);
        return engine.start(Invocation.of(workflow, "x"), StartOptions.id(RUN.value()));
    }

    private void requireNotBegun(Run<String> run, String reason) {
        assertThatThrownBy(run::result)
                .isInstanceOf(RunFailedException.class)
                .hasMessageContaining("is CANCELLED: " + reason);
        assertThat(began).isFalse();
    }

    @AfterEach
    void close() {
        engine.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_cancel_keeps_the_body_from_beginning(boolean beside) {
        request = run -> run.cancel("not wanted");
        requireNotBegun(started(beside), "not wanted");
    }

    @Test
    void a_kill_keeps_the_body_from_beginning() {
        request = run -> run.kill("stuck");
        requireNotBegun(started(false), "stuck");
    }
}
