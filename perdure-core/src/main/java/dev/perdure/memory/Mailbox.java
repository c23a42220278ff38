package dev.perdure.memory;

import dev.perdure.spi.Mailboxes.Arrived;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Payload;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.stream.Stream;

/** The mail of one run. A taken mail is removed, but its token stays known, for a long time. */
final class Mailbox {
    private final NavigableMap<Long, Arrived> unread = new TreeMap<>();
    private final Map<Channel, Mail> once = new HashMap<>();
    private final Map<UUID, Arrival> tokens = new HashMap<>();
    private long count;

    /**
     * When a mail arrived.
     *
     * @param number its number
     * @param kind of its channel
     */
    private record Arrival(Instant at, long number, Channel.Kind kind) {}

    /** What happened to a mail. */
    enum Reception {
        NEW,
        SEEN_BEFORE,
        TAKEN
    }

    Reception put(Mail mail, Instant at) {
        if (knows(mail)) {
            return Reception.SEEN_BEFORE;
        }
        if (once.containsKey(mail.channel())) {
            return Reception.TAKEN;
        }
        if (mail.channel().once()) {
            once.put(mail.channel(), mail);
        }
        count++;
        tokens.put(mail.token(), new Arrival(at, count, mail.channel().kind()));
        unread.put(count, new Arrived(count, mail, at));
        return Reception.NEW;
    }

    /** Whether a mail with this token has been here. */
    boolean knows(Mail mail) {
        return tokens.containsKey(mail.token());
    }

    long count() {
        return count;
    }

    void take(long number) {
        unread.remove(number);
    }

    /** What is unread, and what settles a promise or a call. */
    Stream<Payload> payloads() {
        return Stream.concat(unread.values().stream().map(Arrived::mail), once.values().stream())
                .map(Mail::payload);
    }

    /** Shows what is unread, and what settles a promise or a call, each mail once. */
    void forEachMail(BiConsumer<UUID, Mail> consumer) {
        Map<UUID, Mail> all = new HashMap<>();
        Stream.concat(unread.values().stream().map(Arrived::mail), once.values().stream())
                .forEach(mail -> all.put(mail.token(), mail));
        all.forEach(consumer);
    }

    /** Gives the mail with this token another payload. */
    void replace(Mail other) {
        unread.replaceAll((number, arrived) ->
                arrived.mail().token().equals(other.token()) ? new Arrived(number, other, arrived.at()) : arrived);
        once.replaceAll((channel, mail) -> mail.token().equals(other.token()) ? other : mail);
    }

    Optional<Mail> at(Channel channel) {
        return Optional.ofNullable(once.get(channel));
    }

    /** Forgets this answer, if it is there and was not taken: it does not hold any more. */
    void forget(Mail answer) {
        Arrival arrival = tokens.get(answer.token());
        if (arrival != null && unread.remove(arrival.number()) != null) {
            once.remove(answer.channel());
            tokens.remove(answer.token());
        }
    }

    /** Removes answers: the calls that they answer are gone with the journal. */
    void dropAnswers() {
        unread.values().removeIf(arrived -> arrived.mail().channel().kind() == Channel.Kind.ANSWER);
        once.keySet().removeIf(channel -> channel.kind() == Channel.Kind.ANSWER);
    }

    /** Forgets the tokens of messages and answers that are gone and arrived before this time. */
    void forgetTokens(Instant before) {
        tokens.values()
                .removeIf(arrival -> arrival.at().isBefore(before)
                        && arrival.kind() != Channel.Kind.PROMISE
                        && !unread.containsKey(arrival.number()));
    }

    /** Removes the mail for another life. Tokens stay known, so that mail that is sent again is recognised. */
    void drop() {
        unread.clear();
        once.clear();
    }

    List<Arrived> unread(long after, int maxBytes) {
        long bytes = 0;
        List<Arrived> page = new ArrayList<>();
        for (Arrived arrived : unread.tailMap(after, false).values()) {
            bytes += arrived.mail().payload().size();
            if (bytes > maxBytes && !page.isEmpty()) {
                break;
            }
            page.add(arrived);
        }
        return page;
    }
}
