package dev.perdure.internal.history;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.error.TerminalException;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Runs;
import dev.perdure.spi.Store;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What happens to a run while it is exported. */
@Timeout(60)
class OvertakenExportTest {
    private final AtomicBoolean broken = new AtomicBoolean(true);
    private final AtomicReference<@Nullable Runnable> meanwhile = new AtomicReference<>();
    private final Definition<String, String> pays = paysUnless(broken);

    private static Definition<String, String> paysUnless(AtomicBoolean broken) {
        return Definition.of(
                "pays",
                String.class,
                String.class,
                (ctx, in) -> ctx.step("pay", () -> {
                    if (broken.get()) {
                        throw new TerminalException("closed");
                    }
                    return "paid";
                }));
    }

    @Test
    void a_run_that_is_retried_during_its_export_is_exported_in_one_state() {
        try (Perdure perdure = Perdure.on(store()).register(pays).start()) {
            Run<String> run = perdure.start(Invocation.of(pays, "x"), StartOptions.id("r"));
            while (run.state() != RunState.FAILED) {
                Thread.onSpinWait();
            }
            broken.set(false);
            meanwhile.set(() -> {
                run.retry();
                assertThat(run.result()).isEqualTo("paid");
            });

            ExportedRun read = HistoryFormat.read(run.export(), 1);

            assertThat(meanwhile.get()).isNull();
            assertThat(read.end().state()).isEqualTo(RunState.COMPLETED);
            assertThat(read.end().outcome())
                    .isEqualTo(read.journal().getFirst().entry().payload());
        }
    }

    /** Does once what happens meanwhile, after the state of a run was read and before what it begins with. */
    private Store store() {
        MemoryStore memory = new MemoryStore();
        Runs runs = proxy(Runs.class, (self, method, arguments) -> {
            Runnable once = method.getName().equals("basis") ? meanwhile.getAndSet(null) : null;
            if (once != null) {
                once.run();
            }
            return call(memory.runs(), method, arguments);
        });
        return proxy(
                Store.class,
                (self, method, arguments) -> method.getName().equals("runs") ? runs : call(memory, method, arguments));
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private static @Nullable Object call(Object target, Method method, Object @Nullable [] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause();
        }
    }
}
