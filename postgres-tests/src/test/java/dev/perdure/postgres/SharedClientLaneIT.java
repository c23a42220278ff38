package dev.perdure.postgres;

import static dev.perdure.postgres.StoreFixture.newRun;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.error.StoreException;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Change.CommandKind;
import dev.perdure.spi.change.Lane;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/**
 * Two callers outside send commands at once, on two lanes of the client's committer; both are sent on one lane of the
 * fence.
 */
final class SharedClientLaneIT {
    @Test
    void a_command_from_outside_is_not_carried_out_again_although_another_caller_was_slow() throws Exception {
        String schema = TestServer.newSchema();
        CountDownLatch waits = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        try (HoldingProxy proxy = new HoldingProxy()) {
            DataSource real = proxy.source();
            DataSource source = (DataSource) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {DataSource.class}, (self, method, args) -> {
                        if (Thread.currentThread().getName().equals("slow")) { // a pool that has no connection just now
                            waits.countDown();
                            goOn.await();
                        }
                        try {
                            return method.invoke(real, args);
                        } catch (InvocationTargetException e) {
                            throw e.getTargetException();
                        }
                    });
            PostgresStore store =
                    PostgresStore.on(source).schema(schema).notifications(false).open();
            store.ledger().apply(Lane.client(0), List.of(new Change.Start(newRun("a"), null)));
            store.ledger().apply(Lane.client(0), List.of(new Change.Start(newRun("b"), null)));
            List<Change> pauseA = List.of(new Change.Command(newRun("a").id(), CommandKind.PAUSE, "because"));
            List<Change> cancelB = List.of(new Change.Command(newRun("b").id(), CommandKind.CANCEL, "because"));

            store.ledger()
                    .apply(
                            Lane.client(0),
                            List.of(new Change.Command(newRun("a").id(), CommandKind.RESUME, "")));

            // The first answer is lost: lane 0 of the fence is in doubt.
            proxy.holdNext();
            assertThatThrownBy(() -> store.ledger().apply(Lane.client(0), pauseA))
                    .isInstanceOf(StoreException.class);

            // Another caller, on another lane of the client, sees the doubt, and waits for a connection to replace the
            // lane.
            CompletableFuture<Void> other = new CompletableFuture<>();
            Thread slow = new Thread(
                    () -> {
                        try {
                            store.ledger().apply(Lane.client(1), cancelB);
                            other.complete(null);
                        } catch (Throwable e) {
                            other.completeExceptionally(e);
                        }
                    },
                    "slow");
            slow.start();
            waits.await();

            // The first caller sends again: the lane is replaced. The connection breaks again, now with the pause kept
            // back.
            HoldingProxy.Held late = holdSecondCall(proxy, store, schema, pauseA);

            goOn.countDown();
            other.get();

            // The first caller sends again, and is answered. Then the run is resumed.
            store.ledger().apply(Lane.client(0), pauseA);
            assertThat(stateOf(schema, "a")).isEqualTo("PAUSED");
            store.ledger()
                    .apply(
                            Lane.client(0),
                            List.of(new Change.Command(newRun("a").id(), CommandKind.RESUME, "")));
            assertThat(stateOf(schema, "a")).isEqualTo("READY");
            late.deliver();
            assertThat(stateOf(schema, "a"))
                    .as("after the late copy of the pause")
                    .isEqualTo("READY");
            store.close();
        }
    }

    /** Lets the replacement of the lane pass, and keeps the command itself back. */
    private static HoldingProxy.Held holdSecondCall(
            HoldingProxy proxy, PostgresStore store, String schema, List<Change> pause) throws Exception {
        // Locks the worker's row so that the replacement waits until the proxy is told to hold what comes next.
        HoldingProxy.Held[] held = new HoldingProxy.Held[1];
        try (var lock = TestServer.plain().getConnection();
                var statement = lock.createStatement()) {
            lock.setAutoCommit(false);
            statement.execute("SELECT FROM " + schema + ".worker FOR UPDATE");
            Thread release = new Thread(() -> {
                try {
                    TestServer.awaitBlocked();
                    held[0] = proxy.holdNext();
                    lock.commit();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            release.start();
            assertThatThrownBy(() -> store.ledger().apply(Lane.client(0), pause))
                    .isInstanceOf(StoreException.class);
            release.join();
        }
        return held[0];
    }

    private static String stateOf(String schema, String id) {
        return TestServer.query("SELECT state FROM %s.runs WHERE id = '%s'".formatted(schema, id));
    }
}
