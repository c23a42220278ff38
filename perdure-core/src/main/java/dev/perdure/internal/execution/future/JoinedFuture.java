package dev.perdure.internal.execution.future;

import dev.perdure.Settled;
import dev.perdure.error.PayloadException;
import dev.perdure.internal.execution.replay.ContextCall;
import dev.perdure.internal.execution.replay.Replay;
import dev.perdure.internal.execution.transition.Transitions;
import dev.perdure.internal.execution.transition.WaitCondition;
import dev.perdure.internal.execution.value.Values;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Recorded;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Several futures joined into one. Either one of the parts decides, and the journal records which one: on a replay the
 * same part decides, although more parts have settled since. Or none decides, and the outcome follows from all of them.
 */
final class JoinedFuture<P extends @Nullable Object, T extends @Nullable Object> extends EngineFuture<T> {
    private final ContextCall call;
    private final Values values;
    private final Transitions transitions;
    private final List<? extends EngineFuture<? extends P>> parts;
    private final Rule<P, T> rule;
    private int decided = -1;

    /**
     * How parts are joined.
     *
     * @param decides whether a part with this outcome decides
     * @param decision the outcome if the part with this number has decided
     * @param otherwise the outcome if all have settled and none has decided
     */
    record Rule<P extends @Nullable Object, T extends @Nullable Object>(
            Predicate<Settled<? extends P>> decides,
            BiFunction<Integer, Settled<? extends P>, Settled<T>> decision,
            Function<List<Settled<? extends P>>, Settled<T>> otherwise) {}

    JoinedFuture(
            Futures futures,
            ContextCall call,
            Replay.Past past,
            Values values,
            Transitions transitions,
            List<? extends EngineFuture<? extends P>> parts,
            Rule<P, T> rule) {
        super(futures);
        this.call = call;
        this.values = values;
        this.transitions = transitions;
        this.parts = parts;
        this.rule = rule;
        past.answer().map(Recorded::entry).ifPresent(entry -> decided = recorded(entry));
    }

    /** Which part decided it, as the journal says. */
    private int recorded(Entry entry) {
        try {
            int number = values.at(call.position()).decode(entry.payload(), Integer.class);
            if (number < 0 || number >= parts.size()) {
                throw new PayloadException("It is number %s of %s futures.".formatted(number, parts.size()));
            }
            return number;
        } catch (PayloadException unreadable) {
            throw transitions.unreadable(call, unreadable);
        }
    }

    @Override
    protected @Nullable Settled<T> look() {
        if (decided < 0) {
            List<Settled<? extends P>> settled = new ArrayList<>();
            for (int i = 0; i < parts.size() && decided < 0; i++) {
                Settled<? extends P> part = parts.get(i).look();
                if (part != null) {
                    settled.add(part);
                    decide(i, part);
                }
            }
            if (decided < 0) {
                return settled.size() == parts.size() ? rule.otherwise().apply(settled) : null;
            }
        }
        Settled<? extends P> winner = parts.get(decided).look();
        return winner == null ? null : rule.decision().apply(decided, winner);
    }

    private void decide(int number, Settled<? extends P> part) {
        if (rule.decides().test(part)) {
            decided = number;
            transitions.defer(
                    call.answer(Entry.Status.VALUE, values.at(call.position()).encode(number)));
        }
    }

    @Override
    protected void wants(WaitCondition wanted) {
        if (decided >= 0) {
            parts.get(decided).wants(wanted);
        } else {
            parts.stream().filter(part -> part.look() == null).forEach(part -> part.wants(wanted));
        }
    }

    /** Whether only a failure can settle it before each of its open parts has received its one mail. */
    boolean waitsForAllMail() {
        return decided < 0
                && !rule.decides().test(new Settled<>(null, null))
                && parts.stream().allMatch(part -> part.look() != null || part.isOneAnswer());
    }
}
