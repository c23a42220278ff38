package dev.perdure.spi;

import dev.perdure.RunId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** What has arrived for runs, who can be reached how, and what runs show to the world. */
public interface Mailboxes {
    /**
     * A mail in a run's mailbox.
     *
     * @param number its place in the order of arrival, from 1
     * @param mail the mail
     */
    record Arrived(long number, Mail mail) {}

    /**
     * A call that waits to be answered.
     *
     * @param run whose
     * @param position at which position
     */
    record Address(RunId run, int position) {}

    /**
     * Something a run has published.
     *
     * @param offset grows with every value under the same name; nothing else is promised of it
     * @param at when
     * @param payload the value
     */
    record Published(long offset, Instant at, Payload payload) {}

    /** Mail that was not taken yet, in order, from after a number: at least one if there is one, then as fits the bytes. */
    List<Arrived> unread(RunRef run, long afterNumber, int maxBytes);

    /** What a promise of a run has been resolved or rejected with. */
    Optional<Mail> promise(RunRef run, String name);

    /** The call that the token with this hash answers. */
    Optional<Address> awakeable(String hash);

    /** The calls that wait for this event, in no order. */
    List<Address> subscribers(String event, String key);

    /** What a run has published under a name, oldest first, from after an offset. */
    List<Published> published(RunRef run, String name, long afterOffset, int limit);

    /** The latest that a run has published under a name. */
    Optional<Published> latest(RunRef run, String name);
}
