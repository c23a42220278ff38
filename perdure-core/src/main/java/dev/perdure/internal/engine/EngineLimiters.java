package dev.perdure.internal.engine;

import dev.perdure.audit.AuditEntry.Action;
import dev.perdure.audit.AuditEntry.Subject;
import dev.perdure.error.UnknownLimiterException;
import dev.perdure.internal.command.Auditor;
import dev.perdure.internal.text.Texts;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.LimiterInfo;
import dev.perdure.queue.Limiters;
import dev.perdure.spi.Permits;
import dev.perdure.spi.Permits.Order;
import java.util.List;

/** Limiters for operators, on what the store keeps of them. */
final class EngineLimiters implements Limiters {
    private final Permits permits;
    private final Auditor auditor;

    EngineLimiters(Permits permits, Auditor auditor) {
        this.permits = permits;
        this.auditor = auditor;
    }

    @Override
    public List<LimiterInfo> list() {
        return permits.list();
    }

    @Override
    public LimiterInfo get(String limiter) {
        Texts.requireName("limiter", limiter);
        return permits.find(limiter).orElseThrow(() -> unknown(limiter));
    }

    @Override
    public void declare(Limiter limiter) {
        Texts.requireGiven("limiter", limiter);
        permits.declare(List.of(limiter));
    }

    @Override
    public void limit(Limiter changes) {
        Texts.requireGiven("limiter with the changes", changes);
        apply(new Order.Limit(changes), Action.CHANGE, changes.settings().toString());
    }

    @Override
    public void pause(String limiter, String reason) {
        Texts.requireReason(reason);
        apply(new Order.Pause(limiter, reason), Action.PAUSE, reason);
    }

    @Override
    public void resume(String limiter) {
        apply(new Order.Resume(limiter), Action.RESUME, "");
    }

    @Override
    public void reset(String limiter) {
        apply(new Order.Reset(limiter), Action.RESET, "");
    }

    private void apply(Order order, Action action, String detail) {
        Texts.requireName("limiter", order.limiter());
        if (!permits.apply(order, auditor.of(action, Subject.LIMITER, order.limiter(), detail))) {
            throw unknown(order.limiter());
        }
    }

    private static UnknownLimiterException unknown(String limiter) {
        return new UnknownLimiterException(
                "There is no limiter '%s'. Check the name, or declare the limiter when you set up the engine."
                        .formatted(limiter));
    }
}
