package dev.perdure.shards;

import dev.perdure.error.StoreException;
import dev.perdure.spi.Store;
import dev.perdure.spi.shard.Exchange;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.LongAdder;

/** A store whose roles fail while it is down, and do not answer while it hangs. It counts the requests. */
final class BreakableStore {
    /** Stores answer these from memory. */
    private static final Set<String> WITHOUT_ROUND_TRIP =
            Set.of("limits", "known", "subscribe", "links", "waits", "places");

    private final Store real;
    private final Map<String, LongAdder> requests = new ConcurrentHashMap<>();
    private final Map<String, Runnable> before = new ConcurrentHashMap<>();
    private final Map<String, Object> answers = new ConcurrentHashMap<>();
    private volatile boolean down;
    private volatile CountDownLatch hanging = new CountDownLatch(0);

    BreakableStore(Store real) {
        this.real = real;
    }

    /** How many requests there were, such as {@code Ledger.apply}. */
    long requests(String request) {
        return requests.getOrDefault(request, new LongAdder()).sum();
    }

    void down(boolean isDown) {
        down = isDown;
    }

    void hang() {
        hanging = new CountDownLatch(1);
    }

    void answer() {
        hanging.countDown();
    }

    /** Lets something happen right before one of the next requests of a kind, by its number from now on. */
    void once(String request, int number, Runnable what) {
        before.put(request + " " + (requests(request) + number), what);
    }

    /** From now on, answers all requests of a kind like this. */
    void answering(String request, Object answer) {
        answers.put(request, answer);
    }

    Store store() {
        return proxy(Store.class, real, this::role);
    }

    private Object role(Method method, Object role) {
        if (role instanceof Optional<?> maybe && maybe.orElse(null) instanceof Exchange exchange) {
            return Optional.of(proxy(Exchange.class, exchange, this::role));
        }
        Class<?> type = method.getReturnType();
        return role != null && type.isInterface() && type.getPackageName().startsWith(Store.class.getPackageName())
                ? proxy(type, role, (unused, answer) -> answer)
                : role;
    }

    private interface Answering {
        Object of(Method method, Object answer);
    }

    private <T> T proxy(Class<T> type, Object target, Answering answering) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    if (type != Store.class && !WITHOUT_ROUND_TRIP.contains(method.getName())) {
                        String request = type.getSimpleName() + "." + method.getName();
                        LongAdder count = requests.computeIfAbsent(request, unseen -> new LongAdder());
                        count.increment();
                        Optional.ofNullable(before.remove(request + " " + count.sum()))
                                .ifPresent(Runnable::run);
                        hanging.await();
                        if (down) {
                            throw new StoreException(StoreException.Kind.UNAVAILABLE, "It is down.", null);
                        }
                    }
                    Object given = answers.get(type.getSimpleName() + "." + method.getName());
                    if (given != null) {
                        return given;
                    }
                    try {
                        return answering.of(method, method.invoke(target, arguments));
                    } catch (InvocationTargetException thrown) {
                        throw thrown.getCause();
                    }
                }));
    }
}
