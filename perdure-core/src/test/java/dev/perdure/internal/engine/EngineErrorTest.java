package dev.perdure.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.memory.MemoryStore;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import dev.perdure.spi.Store;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/**
 * An {@link Error} on a thread of the engine, of a listener or because memory was short for once: the engine goes on.
 */
@SuppressWarnings("serial") // references to what only this test can reach are never written anywhere
public final class EngineErrorTest {
    private static final Duration PATIENCE = Duration.ofSeconds(8);
    private static final Definition<String, String> FLOW =
            Definition.of("flow", String.class, String.class, (ctx, in) -> {
                ctx.sleep(Duration.ofMillis(50));
                return ctx.step("s", () -> in);
            });

    private final Logger logger = (Logger) LoggerFactory.getLogger("dev.perdure");
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private final MemoryStore rows = new MemoryStore();
    private final AtomicBoolean armed = new AtomicBoolean();
    private final CountDownLatch askedAgain = new CountDownLatch(1);
    private volatile boolean thrown;

    @BeforeEach
    void listen() {
        log.start();
        logger.addAppender(log);
        logger.setLevel(Level.INFO);
    }

    @AfterEach
    void listenNoMore() {
        logger.detachAppender(log);
        logger.setLevel(null);
    }

    /** A store of which this request, such as {@code leases.renew}, throws once when that is armed. */
    private Store failing(String request) {
        return (Store) failing(Store.class, rows, "", request);
    }

    private Object failing(Class<?> role, Object real, String part, String request) {
        return Proxy.newProxyInstance(role.getClassLoader(), new Class<?>[] {role}, (self, method, arguments) -> {
            if (request.equals(part + "." + method.getName())) {
                failOnce();
            }
            Object answer = invoked(() -> method.invoke(real, arguments));
            return answer != null && part.isEmpty() && method.getReturnType().isInterface()
                    ? failing(method.getReturnType(), answer, method.getName(), request)
                    : answer;
        });
    }

    private void failOnce() {
        if (armed.compareAndSet(true, false)) {
            thrown = true;
            throw new OutOfMemoryError("Java heap space");
        }
        if (thrown) {
            askedAgain.countDown();
        }
    }

    @FunctionalInterface
    private interface ReflectiveCall {
        @Nullable
        Object invoke() throws ReflectiveOperationException;
    }

    private static @Nullable Object invoked(ReflectiveCall invocation) throws Throwable {
        try {
            return invocation.invoke();
        } catch (InvocationTargetException thrown) {
            throw thrown.getTargetException();
        }
    }

    private static PerdureBuilder builder(Store store, Object registration) {
        return Perdure.on(store)
                .retry(RetryPolicy.none())
                .warmWindow(Duration.ZERO)
                .lease(Duration.ofSeconds(1))
                .closeTimeout(Duration.ofSeconds(1))
                .register(registration);
    }

    private List<String> errors() {
        return List.copyOf(log.list).stream()
                .filter(event -> event.getLevel() == Level.ERROR)
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }

    // ---- listeners

    private Perdure withListener(RunState when) {
        AtomicBoolean first = new AtomicBoolean(true);
        return builder(rows, FLOW)
                .listener(change -> {
                    if (change.state() == when && first.getAndSet(false)) {
                        throw new NoClassDefFoundError("com/example/Pager");
                    }
                })
                .start();
    }

    private static void assertGoesOn(Perdure starter) {
        assertThat(starter.start(Invocation.of(FLOW, "a")).result(PATIENCE)).isEqualTo("a");
        assertThat(starter.start(Invocation.of(FLOW, "b")).result(PATIENCE)).isEqualTo("b");
    }

    @Test
    void a_listener_that_throws_an_error_of_a_claimed_run_does_no_harm() {
        Perdure engine = withListener(RunState.RUNNING);
        try (engine;
                Perdure client = Perdure.on(rows).client()) {
            assertGoesOn(client);
        }
    }

    @Test
    void a_listener_that_throws_an_error_of_a_run_that_begins_where_it_was_started_does_no_harm() {
        try (Perdure engine = withListener(RunState.RUNNING)) {
            assertGoesOn(engine);
        }
    }

    @Test
    void a_listener_that_throws_an_error_of_a_run_that_waits_does_no_harm() {
        try (Perdure engine = withListener(RunState.SUSPENDED)) {
            assertGoesOn(engine);
        }
        assertThat(log.list)
                .filteredOn(event -> event.getFormattedMessage().startsWith("A listener threw for run "))
                .hasSize(1);
    }

    // ---- loops

    private void assertWorkerGoesOnAfter(String request, String work) throws Exception {
        Perdure engine = builder(failing(request), FLOW).start();
        try (engine;
                Perdure client = Perdure.on(rows).client()) {
            armed.set(true);
            assertThat(askedAgain.await(8, TimeUnit.SECONDS))
                    .as("%s is asked again", request)
                    .isTrue();
            assertThat(client.start(Invocation.of(FLOW, "after")).result(PATIENCE))
                    .isEqualTo("after");
        }
        assertThat(errors())
                .containsExactly("An unexpected error keeps this engine from its work: it cannot " + work
                        + ". It tries again until it can; fix the cause.");
    }

    @Test
    void a_worker_polls_again_after_an_error() throws Exception {
        assertWorkerGoesOnAfter("dispatch.poll", "look for runs to execute");
        assertThat(log.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .contains("This engine can look for runs to execute again.");
    }

    @Test
    void a_worker_renews_its_lease_again_after_an_error() throws Exception {
        assertWorkerGoesOnAfter("leases.renew", "keep the lease of its worker");
    }

    @Test
    void a_worker_sweeps_again_after_an_error() throws Exception {
        assertWorkerGoesOnAfter("leases.sweep", "keep the lease of its worker");
    }

    @Test
    void a_caller_has_its_result_although_the_look_for_it_met_an_error() {
        armed.set(true);
        Perdure engine = builder(rows, FLOW).start();
        try (engine;
                Perdure client = Perdure.on(failing("runs.ended")).client()) {
            assertThat(client.start(Invocation.of(FLOW, "x")).result(PATIENCE)).isEqualTo("x");
        }
        assertThat(thrown).isTrue();
        assertThat(errors())
                .singleElement()
                .asString()
                .startsWith("An unexpected error keeps this engine from its work: it cannot look for ");
    }

    // ---- the states of virtual objects

    /** Reads its state after it was out of memory, and so from the store. */
    @VirtualObject("note")
    public static final class Note {
        private static final StateKey<String> TEXT = StateKey.of("text", String.class);

        /** What it has. */
        @Handler
        public String read(ObjectContext ctx) {
            ctx.sleep(Duration.ofMillis(20));
            return ctx.get(TEXT).orElse("nothing");
        }
    }

    private static Run<String> read(Perdure engine, String key) {
        return engine.object(Note.class, key).send(Note::read, StartOptions.defaults());
    }

    @Test
    void calls_go_on_after_an_error_in_the_read_of_states_that_they_share() {
        armed.set(true);
        try (Perdure engine = builder(failing("states.readAll"), new Note()).start()) {
            assertThat(read(engine, "a").result(PATIENCE))
                    .as("the call that met the error")
                    .isEqualTo("nothing");
            assertThat(read(engine, "b").result(PATIENCE)).isEqualTo("nothing");
        }
        assertThat(thrown).isTrue();
        assertThat(errors())
                .singleElement()
                .asString()
                .contains("It drops the run from memory and gives it back within a lease");
    }
}
