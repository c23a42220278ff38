package dev.perdure.internal.execution.mail;

import dev.perdure.internal.execution.host.HeldRun;
import dev.perdure.internal.execution.host.Host;
import dev.perdure.internal.execution.transition.RunSignals;
import dev.perdure.internal.execution.transition.Transitions;
import dev.perdure.spi.Mailboxes.Arrived;
import dev.perdure.spi.change.Channel;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A run's unread mail in memory. It is read when the run first looks for mail. It is read again only if more mail has
 * arrived than is here, and the wake-up did not bring it.
 */
public final class UnreadMail {
    private final HeldRun held;
    private final Host host;
    private final RunSignals signals;
    private final Transitions transitions;
    private final Map<Channel, Deque<Arrived>> unread = new HashMap<>();
    private long seen;

    public UnreadMail(HeldRun held, Host host, RunSignals signals, Transitions transitions) {
        this.held = held;
        this.host = host;
        this.signals = signals;
        this.transitions = transitions;
    }

    /** The first mail on a channel that the run has not taken. */
    Optional<Arrived> first(Channel channel) {
        refresh();
        return Optional.ofNullable(unread.get(channel)).map(Deque::peekFirst);
    }

    /** All mail up to this number was taken before, so it need not be read. */
    void startAfter(long number) {
        seen = Math.max(seen, number);
    }

    /** All mail on these channels that the run has not taken, in order of arrival. */
    List<Arrived> all(Set<Channel> channels) {
        refresh();
        return channels.stream()
                .flatMap(channel -> unread.getOrDefault(channel, new ArrayDeque<>()).stream())
                .sorted(Comparator.comparingLong(Arrived::number))
                .toList();
    }

    /** The number of the last mail that was read. */
    long seen() {
        return seen;
    }

    /** Removes a mail that the run has taken. */
    void take(Arrived arrived) {
        Deque<Arrived> waiting = unread.get(arrived.mail().channel());
        if (waiting != null) {
            waiting.remove(arrived);
        }
    }

    private void refresh() {
        long arrived = signals.control().mails();
        signals.handedMail()
                .filter(mail -> mail.number()
                        == seen + 1) // Otherwise a mail before it has to be read, and this one is read with it.
                .ifPresent(this::add);
        while (seen < arrived) {
            long after = seen;
            List<Arrived> page = transitions.answered(() -> host.store().unread(held.run(), after));
            page.forEach(this::add);
            seen = page.isEmpty() ? arrived : seen;
        }
    }

    private void add(Arrived mail) {
        unread.computeIfAbsent(mail.mail().channel(), unseen -> new ArrayDeque<>())
                .add(mail);
        seen = mail.number();
    }
}
