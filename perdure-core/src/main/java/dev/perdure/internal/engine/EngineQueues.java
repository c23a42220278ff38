package dev.perdure.internal.engine;

import dev.perdure.audit.AuditEntry.Action;
import dev.perdure.audit.AuditEntry.Subject;
import dev.perdure.error.UnknownQueueException;
import dev.perdure.internal.command.Auditor;
import dev.perdure.internal.text.Texts;
import dev.perdure.queue.Queue;
import dev.perdure.queue.QueueInfo;
import dev.perdure.queue.Queues;
import dev.perdure.spi.QueueRules;
import dev.perdure.spi.QueueRules.Order;
import java.util.List;

/** The queues as operators see and change them, on top of the store. */
final class EngineQueues implements Queues {
    private final QueueRules rules;
    private final Auditor auditor;

    EngineQueues(QueueRules rules, Auditor auditor) {
        this.rules = rules;
        this.auditor = auditor;
    }

    @Override
    public List<QueueInfo> list() {
        return rules.list();
    }

    @Override
    public QueueInfo get(String queue) {
        Texts.requireName("queue", queue);
        return rules.find(queue).orElseThrow(() -> unknown(queue));
    }

    @Override
    public List<QueueInfo.Key> keys(String queue, int most) {
        Texts.requirePage("number of keys", most);
        get(queue);
        return rules.keys(queue, most);
    }

    @Override
    public void declare(Queue queue) {
        Texts.requireGiven("queue", queue);
        rules.declare(List.of(queue));
    }

    @Override
    public void limit(Queue changes) {
        Texts.requireGiven("queue with the changes", changes);
        apply(new Order.Limit(changes), Action.CHANGE, changes.settings().toString());
    }

    @Override
    public void pause(String queue, String reason) {
        Texts.requireReason(reason);
        apply(new Order.Pause(queue, reason), Action.PAUSE, reason);
    }

    @Override
    public void resume(String queue) {
        apply(new Order.Resume(queue), Action.RESUME, "");
    }

    @Override
    public void reset(String queue) {
        apply(new Order.Reset(queue), Action.RESET, "");
    }

    private void apply(Order order, Action action, String detail) {
        Texts.requireName("queue", order.queue());
        if (!rules.apply(order, auditor.of(action, Subject.QUEUE, order.queue(), detail))) {
            throw unknown(order.queue());
        }
    }

    private static UnknownQueueException unknown(String queue) {
        return new UnknownQueueException(
                "There is no queue '%s' with limits. Check the name, or declare the queue when you set up the engine."
                        .formatted(queue));
    }
}
