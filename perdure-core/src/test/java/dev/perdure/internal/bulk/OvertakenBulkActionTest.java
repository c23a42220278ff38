package dev.perdure.internal.bulk;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.audit.AuditEntry.Action;
import dev.perdure.audit.AuditEntry.Subject;
import dev.perdure.audit.Operator;
import dev.perdure.bulk.BulkAction;
import dev.perdure.bulk.BulkReport;
import dev.perdure.error.TerminalException;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.Removals;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Change.CommandKind;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiPredicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What happens to a run after a bulk action has selected it, and before the command arrives. */
@Timeout(60)
class OvertakenBulkActionTest {
    private static final BulkReport SKIPPED = new BulkReport(0, 1, 0, List.of());
    private static final Definition<String, String> SLEEPS =
            Definition.of("sleeps", String.class, String.class, (ctx, in) -> {
                ctx.sleep(Duration.ofDays(1));
                return in;
            });

    private final AtomicReference<Runnable> meanwhile = new AtomicReference<>();

    /** Does once what happens meanwhile, before such a call of the ledger or of the removals. */
    private Store before(Store store, BiPredicate<Method, Object[]> call) {
        return inFrontOf(Store.class, store, (method, arguments) -> false, call);
    }

    private <T> T inFrontOf(
            Class<T> type, T behind, BiPredicate<Method, Object[]> call, BiPredicate<Method, Object[]> inner) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    Runnable once = call.test(method, arguments) ? meanwhile.getAndSet(null) : null;
                    if (once != null) {
                        once.run();
                    }
                    try {
                        Object answer = method.invoke(behind, arguments);
                        if (answer instanceof Ledger ledger) {
                            return inFrontOf(Ledger.class, ledger, inner, inner);
                        }
                        return answer instanceof Removals removals
                                ? inFrontOf(Removals.class, removals, inner, inner)
                                : answer;
                    } catch (InvocationTargetException thrown) {
                        throw thrown.getCause();
                    }
                }));
    }

    private Store beforeCommand(Store store, CommandKind kind) {
        return before(
                store,
                (method, arguments) -> method.getName().equals("apply")
                        && ((List<?>) arguments[1])
                                .stream()
                                        .anyMatch(change ->
                                                change instanceof Change.Command command && command.kind() == kind));
    }

    private static void await(Run<String> run, RunState state) {
        while (run.state() != state) {
            Thread.onSpinWait();
        }
    }

    @Test
    void a_run_that_was_retried_and_ended_anew_is_not_deleted() {
        AtomicBoolean broken = new AtomicBoolean(true);
        Definition<String, String> pays = Definition.of(
                "pays",
                String.class,
                String.class,
                (ctx, in) -> ctx.step("pay", () -> {
                    if (broken.get()) {
                        throw new TerminalException("closed");
                    }
                    return "paid";
                }));
        Store store = before(
                new MemoryStore(), (method, arguments) -> method.getName().equals("delete"));
        try (Perdure perdure = Perdure.on(store).register(pays).start()) {
            Run<String> run = perdure.start(Invocation.of(pays, "x"), StartOptions.id("r"));
            await(run, RunState.FAILED);
            broken.set(false);
            meanwhile.set(() -> {
                run.retry();
                assertThat(run.result()).isEqualTo("paid");
            });
            RunFilter failed = RunFilter.all().definition("pays").state(RunState.FAILED);

            assertThat(perdure.runs(failed).start(BulkAction.delete()).result()).isEqualTo(SKIPPED);
            assertThat(meanwhile.get()).isNull();
            assertThat(run.state()).isEqualTo(RunState.COMPLETED);
        }
    }

    @Test
    void a_run_that_was_resumed_and_paused_anew_stays_paused() {
        try (Perdure perdure = Perdure.on(beforeCommand(new MemoryStore(), CommandKind.RESUME))
                .register(SLEEPS)
                .start()) {
            Run<String> run = perdure.start(Invocation.of(SLEEPS, "x"), StartOptions.id("r"));
            await(run, RunState.SUSPENDED);
            run.pause("first");
            meanwhile.set(() -> {
                run.resume();
                run.pause("look at it first");
                await(run, RunState.PAUSED);
            });
            RunFilter all = RunFilter.all().definition("sleeps");

            assertThat(perdure.runs(all).start(BulkAction.resume()).result()).isEqualTo(SKIPPED);
            assertThat(meanwhile.get()).isNull();
            assertThat(run.state()).isEqualTo(RunState.PAUSED);
        }
    }

    @Test
    void a_run_that_was_started_later_under_the_same_id_is_left_alone() {
        MemoryStore memory = new MemoryStore();
        try (Perdure perdure = Perdure.on(beforeCommand(memory, CommandKind.CANCEL))
                .register(SLEEPS)
                .start()) {
            Run<String> run = perdure.start(Invocation.of(SLEEPS, "x"), StartOptions.id("r"));
            await(run, RunState.SUSPENDED);
            meanwhile.set(() -> {
                run.kill("gone");
                delete(memory, run);
                await(perdure.start(Invocation.of(SLEEPS, "new"), StartOptions.id("r")), RunState.SUSPENDED);
            });
            RunFilter all = RunFilter.all().definition("sleeps");

            assertThat(perdure.runs(all).start(BulkAction.cancel("no")).result())
                    .isEqualTo(SKIPPED);
            assertThat(meanwhile.get()).isNull();
            assertThat(perdure.runs(all.state(RunState.SUSPENDED)).list()).hasSize(1);
        }
    }

    @Test
    void a_child_of_a_run_that_ended_before_the_kill_arrived_lives_on() {
        Definition<String, String> starts = Definition.of("starts", String.class, String.class, (ctx, in) -> {
            ctx.startChild(Invocation.of(SLEEPS, in));
            ctx.receive(Topic.of("go", String.class)).await();
            return in;
        });
        try (Perdure perdure = Perdure.on(beforeCommand(new MemoryStore(), CommandKind.KILL))
                .register(SLEEPS, starts)
                .start()) {
            Run<String> run = perdure.start(Invocation.of(starts, "x"), StartOptions.id("r"));
            await(run, RunState.SUSPENDED);
            meanwhile.set(() -> {
                run.send(Topic.of("go", String.class), "now");
                assertThat(run.result()).isEqualTo("x");
            });
            RunFilter all = RunFilter.all().definition("starts");

            assertThat(perdure.runs(all).start(BulkAction.kill("no")).result()).isEqualTo(SKIPPED);
            assertThat(meanwhile.get()).isNull();
            assertThat(perdure.runs(RunFilter.all().definition("sleeps").state(RunState.SUSPENDED))
                            .list())
                    .hasSize(1);
        }
    }

    /** The page is sent again, and its entry lies behind more entries than a page of the audit has. */
    @Test
    void a_retry_that_is_sent_again_is_counted_however_much_has_happened_since() {
        AtomicBoolean broken = new AtomicBoolean(true);
        Definition<String, String> sleepsLater =
                Definition.of("sleeps later", String.class, String.class, (ctx, in) -> {
                    ctx.step("try", () -> {
                        if (broken.get()) {
                            throw new TerminalException("closed");
                        }
                        return "";
                    });
                    ctx.sleep(Duration.ofDays(1));
                    return in;
                });
        Store store = before(new MemoryStore(), (method, arguments) -> isRetryOf("second", method, arguments));
        try (Perdure perdure = Perdure.on(store).register(sleepsLater).start()) {
            Run<String> first = perdure.start(Invocation.of(sleepsLater, "x"), StartOptions.id("first"));
            await(first, RunState.FAILED);
            await(perdure.start(Invocation.of(sleepsLater, "x"), StartOptions.id("second")), RunState.FAILED);
            broken.set(false);
            meanwhile.set(() -> {
                await(first, RunState.SUSPENDED);
                for (int i = 0; i < 51; i++) {
                    first.pause("look");
                    first.resume();
                    await(first, RunState.SUSPENDED);
                }
                throw new IllegalStateException("The connection is lost.");
            });
            RunFilter all = RunFilter.all().definition("sleeps later");

            assertThat(perdure.runs(all).start(BulkAction.retry()).result())
                    .isEqualTo(new BulkReport(2, 0, 0, List.of()));
            assertThat(meanwhile.get()).isNull();
        }
    }

    private static boolean isRetryOf(String run, Method method, Object[] arguments) {
        return method.getName().equals("apply")
                && ((List<?>) arguments[1])
                        .stream()
                                .anyMatch(change -> change instanceof Change.Retry retry
                                        && retry.run().value().equals(run));
    }

    private static void delete(Store store, Run<String> run) {
        var info = store.runs().find(run.id()).orElseThrow().info();
        Audit audit = new Audit(
                UUID.randomUUID(),
                Operator.named("anna"),
                Action.DELETE,
                Subject.RUN,
                run.id().value(),
                0,
                "");
        store.removals().delete(run.id(), new Change.Seen(info.createdAt(), info.changedAt()), audit);
    }
}
