package dev.perdure.spi;

import dev.perdure.RunId;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
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
     * @param life in which life of the run: how often it had begun anew. Positions come again in every life
     */
    record Address(RunId run, int position, int life) {}

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

    /**
     * A promise of a run.
     *
     * @param run whose
     * @param name its name
     */
    record Promised(RunRef run, String name) {}

    /**
     * A place in what a run publishes.
     *
     * @param run whose
     * @param name under which name
     * @param after the offset after which it goes on
     */
    record Place(RunRef run, String name, long after) {}

    /**
     * What comes after a place.
     *
     * @param values oldest first
     * @param ended whether the run has ended, so that nothing comes after these but what they leave out
     */
    record Shown(List<Published> values, boolean ended) {}

    /** What promises have been resolved or rejected with; those that are open are left out. One question for all. */
    Map<Promised, Mail> promises(Collection<Promised> promises);

    /** What a promise of a run has been resolved or rejected with. */
    default Optional<Mail> promise(RunRef run, String name) {
        return promises(List.of(new Promised(run, name))).values().stream().findFirst();
    }

    /** The call that the token with this hash answers. */
    Optional<Address> awakeable(String hash);

    /** The call at this position of the run's present life, if it can be answered by a token. */
    Optional<Address> awakeable(RunRef run, int position);

    /**
     * What tokens are derived from: at least 32 random bytes, made once and the same for all who open the store. Nothing that
     * shows runs shows it. Known since the store was opened, so that this never fails.
     */
    byte[] secret();

    /** The calls that wait for this event, in no order. */
    List<Address> subscribers(String event, String key);

    /**
     * What comes after these places, at most so many values each. Left out is where nothing comes and the run has not ended.
     * One question for all.
     */
    Map<Place, Shown> published(Collection<Place> places, int limit);

    /** What a run has published under a name, oldest first, from after an offset. */
    default List<Published> published(RunRef run, String name, long afterOffset, int limit) {
        return published(List.of(new Place(run, name, afterOffset)), limit).values().stream()
                .flatMap(shown -> shown.values().stream())
                .toList();
    }

    /** The latest that a run has published under a name. */
    Optional<Published> latest(RunRef run, String name);
}
