package dev.perdure.internal.execution.mail;

import dev.perdure.internal.execution.host.HeldRun;
import dev.perdure.internal.execution.host.Host;
import dev.perdure.internal.execution.replay.ContextCall;
import dev.perdure.internal.execution.transition.ContextCalls;
import dev.perdure.internal.execution.transition.Transitions;
import dev.perdure.internal.execution.transition.WaitCondition;
import dev.perdure.internal.execution.transition.Waits;
import dev.perdure.internal.execution.value.Derived;
import dev.perdure.spi.Mailboxes.Arrived;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Recorded;
import dev.perdure.spi.change.RunRef;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Turns of a run of the engine's own that is a state machine: it waits for a time or for mail, takes the mail there is,
 * and decides.
 *
 * <p>How it works. What was decided is one entry of the journal, with everything that it does to others as effects of
 * the same transition, which is also the one by which the run waits for its next turn. A replay reads only what was
 * decided, so that code that decides otherwise, or time zone data that have changed, never fail to fit an old journal.
 */
public final class Turns {
    private final HeldRun held;
    private final Host host;
    private final ContextCalls calls;
    private final Transitions transitions;
    private final Waits waits;
    private final UnreadMail unread;
    private final Derived derived;

    /**
     * What a turn waits for.
     *
     * @param due when it comes at the latest, or null
     * @param wakes the channels on which mail makes it come at once
     * @param takes the channels whose mail it takes
     * @param seen the number of the last mail that was taken before
     */
    public record Wanted(@Nullable Instant due, Set<Channel> wakes, Set<Channel> takes, long seen) {}

    /**
     * What a turn finds.
     *
     * @param run the run
     * @param now the store's time
     * @param mails the mail that it can take, in order of arrival
     * @param seen the number of the last mail
     * @param position of the turn in the journal
     */
    public record Situation(RunRef run, Instant now, List<Arrived> mails, long seen, int position) {}

    /**
     * What was decided.
     *
     * @param recorded what the journal keeps of it
     * @param taken how many of the mails were taken, from the first; the others are for the next turn
     * @param effects what it does to others
     */
    public record Decided(Payload recorded, int taken, List<Effect> effects) {}

    public Turns(
            HeldRun held,
            Host host,
            ContextCalls calls,
            Transitions transitions,
            Waits waits,
            UnreadMail unread,
            Derived derived) {
        this.held = held;
        this.host = host;
        this.calls = calls;
        this.transitions = transitions;
        this.waits = waits;
        this.unread = unread;
        this.derived = derived;
    }

    /** Takes a turn, and gives what was decided then. */
    public Payload take(String name, Supplier<Wanted> what, Function<Situation, Decided> decide) {
        ContextCall call = calls.take("turn", Entry.Kind.STEP, name);
        Optional<Recorded> past = calls.rethrowDelivered(call).answer();
        if (past.isPresent()) {
            return past.get().entry().payload();
        }
        Wanted wanted = what.get();
        unread.startAfter(wanted.seen());
        while (true) {
            transitions.obeySignals();
            transitions.deliverTo(call);
            List<Arrived> arrived = unread.all(wanted.takes());
            Instant now = host.clock().now();
            if (isDue(wanted, now) || isWoken(wanted, arrived)) {
                return decided(call, arrived, now, decide);
            }
            WaitCondition condition = new WaitCondition();
            wanted.wakes().forEach(condition::mail);
            if (wanted.due() != null) {
                condition.time(wanted.due());
            }
            waits.awaitOutOfMemory(condition);
        }
    }

    private static boolean isDue(Wanted wanted, Instant now) {
        return wanted.due() != null && !now.isBefore(wanted.due());
    }

    private static boolean isWoken(Wanted wanted, List<Arrived> arrived) {
        return arrived.stream()
                .anyMatch(each -> wanted.wakes().contains(each.mail().channel()));
    }

    private Payload decided(ContextCall call, List<Arrived> arrived, Instant now, Function<Situation, Decided> decide) {
        Decided decided = decide.apply(new Situation(held.run(), now, arrived, unread.seen(), call.position()));
        List<Effect> effects = new ArrayList<>();
        for (Arrived each : arrived.subList(0, decided.taken())) {
            unread.take(each);
            effects.add(new Effect.Take(each.number()));
        }
        effects.addAll(decided.effects());
        transitions.defer(call.answer(Entry.Status.VALUE, decided.recorded()), effects);
        if (host.rules().unloadAfterSteps()) {
            transitions.flush();
            transitions.unloadAfterStep();
        }
        return decided.recorded();
    }

    /** The seed of the run that a turn starts as the one of this number. */
    public long seed(int position, int number) {
        return derived.uuid("turn " + number, position).getMostSignificantBits();
    }

    /** The token of a mail that a turn sends to the run of this number. */
    public UUID token(int position, int number) {
        return derived.uuid("mail " + number, position);
    }
}
