package dev.perdure.shards;

import static dev.perdure.StartOptions.id;
import static dev.perdure.shards.Shard.shard;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.error.StoreException;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Store;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A shard that is out of reach stops its own runs and no others. */
final class DownShardTest {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Definition<Integer, Integer> TWICE =
            Definition.of("twice", Integer.class, Integer.class, (ctx, number) -> ctx.step("twice", () -> 2 * number));

    /** Stores answer these from memory. */
    private static final Set<String> WITHOUT_ROUND_TRIP = Set.of("limits", "known", "subscribe");

    private volatile boolean down;

    /** A store of which every role fails while it is down. */
    private Store failing(Store store) {
        return proxy(
                Store.class,
                store,
                (method, role) -> method.getReturnType().isInterface()
                                && role != null
                                && method.getReturnType().getPackageName().startsWith(Store.class.getPackageName())
                        ? role(method.getReturnType(), role)
                        : role);
    }

    private <T> T role(Class<T> type, Object role) {
        return proxy(type, role, (method, answer) -> answer);
    }

    private interface Answering {
        Object of(Method method, Object answer);
    }

    private <T> T proxy(Class<T> type, Object real, Answering answering) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    if (down && type != Store.class && !WITHOUT_ROUND_TRIP.contains(method.getName())) {
                        throw new StoreException(StoreException.Kind.UNAVAILABLE, "It is down.", null);
                    }
                    try {
                        return answering.of(method, method.invoke(real, arguments));
                    } catch (InvocationTargetException thrown) {
                        throw thrown.getCause();
                    }
                }));
    }

    @Test
    void runs_of_the_other_shard_go_on_and_its_own_when_it_is_back() throws Exception {
        try (ShardedStore store =
                        ShardedStore.over(shard("a", new MemoryStore()), shard("b", failing(new MemoryStore())));
                Perdure perdure = Perdure.on(store).register(TWICE).start()) {
            String onA = MembershipTest.onShard(store, 0).value();
            String onB = MembershipTest.onShard(store, 1).value();
            down = true;
            CompletableFuture<Run<Integer>> starting =
                    CompletableFuture.supplyAsync(() -> perdure.start(Invocation.of(TWICE, 4), id(onB)));
            assertThat(perdure.start(Invocation.of(TWICE, 5), id(onA)).result(SOON))
                    .isEqualTo(10);
            assertThatThrownBy(() -> store.runs().list(RunFilter.all()))
                    .isInstanceOf(StoreException.class)
                    .hasMessage("Shard 'b': It is down.");
            assertThat(starting).isNotDone();
            down = false;
            assertThat(starting.get(30, TimeUnit.SECONDS).result(SOON)).isEqualTo(8);
        }
    }
}
