package dev.perdure.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.WorkflowBody;
import dev.perdure.dag.Dag;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.StoreException;
import dev.perdure.memory.MemoryStore;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.SharedObjectContext;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import dev.perdure.spi.Store;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/**
 * The store answers, and refuses, as without rights or with a changed password: runs wait until a person has mended
 * that.
 */
@SuppressWarnings("serial") // references to what only this test can reach are never written anywhere
public final class RefusingStoreTest {
    private static final Topic<String> NEWS = Topic.of("news", String.class);

    private final Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private final MemoryStore rows = new MemoryStore();
    private final CountDownLatch refusals = new CountDownLatch(3);
    private volatile String refused = "";

    @BeforeEach
    void listen() {
        log.start();
        root.addAppender(log);
    }

    @AfterEach
    void listenNoMore() {
        root.detachAppender(log);
    }

    /** From now on this request is refused, such as {@code mailboxes.unread}. */
    private void refuse(String request) {
        refused = request;
    }

    private Store store() {
        return proxy(Store.class, rows, (part, real) -> {
            Class<?>[] roles = part.getReturnType().isInterface() ? new Class<?>[] {part.getReturnType()} : null;
            return roles == null ? real : proxy(roles[0], real, (method, answer) -> answer, part.getName());
        });
    }

    @FunctionalInterface
    private interface Seen {
        Object as(Method method, Object answer);
    }

    private <T> T proxy(Class<T> role, Object real, Seen seen, String... part) {
        return role.cast(Proxy.newProxyInstance(
                role.getClassLoader(), new Class<?>[] {role}, (self, method, arguments) -> {
                    if (part.length == 1 && refused.equals(part[0] + "." + method.getName())) {
                        refusals.countDown();
                        throw new StoreException(
                                StoreException.Kind.UNUSABLE, "permission denied for " + refused, null);
                    }
                    return invoked(real, method, arguments, seen);
                }));
    }

    private static @Nullable Object invoked(Object real, Method method, Object @Nullable [] arguments, Seen seen)
            throws Throwable {
        try {
            Object answer = method.invoke(real, arguments);
            return answer == null ? null : seen.as(method, answer);
        } catch (InvocationTargetException thrown) {
            throw thrown.getTargetException();
        }
    }

    private Perdure engine(Object... registrations) {
        return Perdure.on(store())
                .retry(RetryPolicy.none())
                .warmWindow(Duration.ZERO)
                .closeTimeout(Duration.ofSeconds(5))
                .register(registrations)
                .start();
    }

    private static void await(CountDownLatch latch) throws InterruptedException {
        assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    }

    /** What the run gives that was refused several times, once the store is mended. */
    private <T> T mended(Run<T> run) throws InterruptedException {
        await(refusals);
        assertThat(run.state().isTerminal())
                .as("%s while it is refused", run.info())
                .isFalse();
        refuse("");
        return run.result(Duration.ofSeconds(20));
    }

    private void assertWaitsFor(String request, WorkflowBody<String, String> body, String result) throws Exception {
        assertWaitsFor(body, (engine, flow) -> engine.start(Invocation.of(flow, "x"), StartOptions.id("r")), result);
        assertThat(errors()).singleElement().satisfies(error -> {
            assertThat(error.getFormattedMessage())
                    .contains("is refused.", "no run fails meanwhile", "every 10 minutes");
            assertThat(error.getThrowableProxy().getMessage()).isEqualTo("permission denied for " + request);
        });
    }

    @FunctionalInterface
    private interface Starting {
        Run<String> start(Perdure engine, Definition<String, String> flow) throws Exception;
    }

    private void assertWaitsFor(WorkflowBody<String, String> body, Starting starting, String result) throws Exception {
        Definition<String, String> flow = Definition.of("flow", String.class, String.class, body);
        try (Perdure engine = engine(flow)) {
            assertThat(mended(starting.start(engine, flow))).isEqualTo(result);
        }
    }

    private List<ILoggingEvent> errors() {
        return log.list.stream()
                .filter(event -> event.getLevel().isGreaterOrEqual(Level.ERROR))
                .toList();
    }

    @Test
    void a_commit_waits_and_the_body_does_not_run_again() throws Exception {
        AtomicInteger bodies = new AtomicInteger();
        assertWaitsFor(
                "ledger.apply",
                (ctx, in) -> ctx.step("work", () -> {
                    refuse("ledger.apply");
                    return "body " + bodies.incrementAndGet();
                }),
                "body 1");
        assertThat(bodies).hasValue(1);
    }

    @Test
    void the_end_of_a_run_waits() throws Exception {
        assertWaitsFor(
                "ledger.apply",
                (ctx, in) -> {
                    refuse("ledger.apply");
                    return in;
                },
                "x");
    }

    /** Two messages, because the last one comes along with the word of its arrival. */
    private Run<String> startedAndSentTo(Perdure engine, Definition<String, String> flow, CountDownLatch sent) {
        Run<String> run = engine.start(Invocation.of(flow, "x"), StartOptions.id("r"));
        run.send(NEWS, "first");
        run.send(NEWS, "second");
        sent.countDown();
        return run;
    }

    @Test
    void a_receive_waits() throws Exception {
        CountDownLatch sent = new CountDownLatch(1);
        assertWaitsFor(
                (ctx, in) -> {
                    ctx.step("wait", () -> await(sent));
                    refuse("mailboxes.unread");
                    return ctx.receive(NEWS).await();
                },
                (engine, flow) -> startedAndSentTo(engine, flow, sent),
                "first");
    }

    @Test
    void a_run_that_waits_for_the_store_can_be_killed() throws Exception {
        CountDownLatch sent = new CountDownLatch(1);
        Definition<String, String> flow = Definition.of("flow", String.class, String.class, (ctx, in) -> {
            ctx.step("wait", () -> await(sent));
            refuse("mailboxes.unread");
            return ctx.receive(NEWS).await();
        });
        try (Perdure engine = engine(flow)) {
            Run<String> run = startedAndSentTo(engine, flow, sent);
            await(refusals);
            run.kill("enough");
            assertThatThrownBy(() -> run.result(Duration.ofSeconds(20))).hasMessage("Run 'r' is CANCELLED: enough");
        }
    }

    @Test
    void an_emission_waits_and_is_no_failed_attempt() throws Exception {
        assertWaitsFor(
                "mailboxes.subscribers",
                (ctx, in) -> {
                    refuse("mailboxes.subscribers");
                    return in + ctx.emit(NEWS, "x");
                },
                "x0");
    }

    @Test
    void the_answer_to_an_awakeable_waits_and_is_no_failed_attempt() throws Exception {
        assertWaitsFor(
                "mailboxes.awakeable",
                (ctx, in) -> {
                    refuse("mailboxes.awakeable");
                    return in + ctx.resolve("no such token", "x");
                },
                "xfalse");
    }

    private WorkflowBody<String, String> longJournal(String request) {
        return (ctx, in) -> {
            for (int i = 0; i < 4; i++) {
                ctx.step("large", () -> "x".repeat(150_000));
            }
            ctx.step("then", () -> refuse(request));
            ctx.sleep(Duration.ofMillis(20));
            return in;
        };
    }

    @Test
    void a_replay_waits_for_more_of_its_journal() throws Exception {
        assertWaitsFor("journals.read", longJournal("journals.read"), "x");
    }

    @Test
    void a_run_waits_to_be_taken() throws Exception {
        assertWaitsFor(
                longJournal("journals.readFirst"), (engine, flow) -> engine.start(Invocation.of(flow, "x")), "x");
        assertThat(errors()).isNotEmpty(); // in the words of a worker that looks for runs
    }

    @Test
    void a_dag_waits_for_how_its_tasks_ended() throws Exception {
        Dag<String, Integer> dag = Dag.of(
                "dag",
                String.class,
                builder -> builder.task("bad", t -> {
                    refuse("runs.tasks");
                    throw new IllegalStateException("as told");
                }));
        try (Perdure engine = engine(dag)) {
            Run<Integer> run = engine.start(dag, "x");
            assertThatThrownBy(() -> mended(run))
                    .isInstanceOf(RunFailedException.class)
                    .hasMessageContaining("1 task of DAG 'dag' failed: 'bad': java.lang.IllegalStateException");
        }
    }

    /** Whose handlers read after the store has begun to refuse. */
    @VirtualObject("refused")
    public static final class Note {
        private static final StateKey<String> TEXT = StateKey.of("text", String.class);
        private final Consumer<String> refuse;

        Note(Consumer<String> refuse) {
            this.refuse = refuse;
        }

        /** A handler. */
        @Handler
        public String write(ObjectContext ctx) {
            ctx.set(TEXT, "written");
            return "";
        }

        /** A handler. */
        @Handler
        public String exclusive(ObjectContext ctx) {
            ctx.sleep(Duration.ofMillis(20)); // out of memory, and with it what it knew of the state
            refuse.accept("states.readAll");
            return ctx.get(TEXT).orElse("nothing");
        }

        /** A handler. */
        @Handler
        public String shared(SharedObjectContext ctx) {
            refuse.accept("states.read");
            return ctx.get(TEXT).orElse("nothing");
        }

        /** A handler. */
        @Handler
        public String ending(ObjectContext ctx) {
            refuse.accept("ledger.apply");
            return "ended";
        }
    }

    private void assertCallWaits(Function<Perdure, Run<String>> send, String result) throws Exception {
        try (Perdure engine = engine(new Note(this::refuse))) {
            assertThat(mended(send.apply(engine))).isEqualTo(result);
        }
    }

    @Test
    void an_exclusive_call_waits_for_the_state() throws Exception {
        try (Perdure engine = engine(new Note(this::refuse))) {
            engine.object(Note.class, "a").call(Note::write);
        }
        assertCallWaits(
                engine -> engine.object(Note.class, "a").send(Note::exclusive, StartOptions.defaults()), "written");
    }

    @Test
    void a_shared_call_waits_for_the_state() throws Exception {
        assertCallWaits(
                engine -> engine.object(Note.class, "a").send(Note::shared, StartOptions.defaults()), "nothing");
    }

    @Test
    void the_end_of_a_call_waits() throws Exception {
        assertCallWaits(engine -> engine.object(Note.class, "a").send(Note::ending, StartOptions.defaults()), "ended");
    }
}
