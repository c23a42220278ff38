package dev.perdure.torture.defect;

import dev.perdure.queue.Queue;
import dev.perdure.simulation.store.ForwardingStore;
import dev.perdure.spi.QueueRules;
import dev.perdure.spi.Store;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.List;

/** Declares queues with twice their limits, as if each of two processes counted without the row that they share. */
final class LimitWithoutRow extends ForwardingStore {
    LimitWithoutRow(Store store) {
        super(store);
    }

    @Override
    public QueueRules queues() {
        QueueRules real = behind().queues();
        return (QueueRules) Proxy.newProxyInstance(
                QueueRules.class.getClassLoader(), new Class<?>[] {QueueRules.class}, (proxy, method, arguments) -> {
                    try {
                        return method.getName().equals("declare")
                                ? method.invoke(real, doubled((Collection<?>) arguments[0]))
                                : method.invoke(real, arguments);
                    } catch (InvocationTargetException thrown) {
                        throw thrown.getCause();
                    }
                });
    }

    private static List<Queue> doubled(Collection<?> queues) {
        return queues.stream()
                .map(Queue.class::cast)
                .map(queue -> queue.concurrency(2 * queue.concurrency().orElseThrow())
                        .perKey(2 * queue.perKey().orElseThrow()))
                .toList();
    }
}
