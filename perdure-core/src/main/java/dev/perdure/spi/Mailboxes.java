package dev.perdure.spi;

import dev.perdure.RunId;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.shard.Partitions;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads the mail of runs, the addresses of calls that wait for an answer, and what runs have published. */
public interface Mailboxes {
    /**
     * A mail in a run's mailbox.
     *
     * @param number its number in the order of arrival, from 1
     * @param mail the mail
     * @param at when it arrived, by the store's clock; null if it came along with the hint of its arrival, a moment ago
     */
    record Arrived(long number, Mail mail, @Nullable Instant at) {}

    /**
     * A call that waits for an answer.
     *
     * @param run the run
     * @param position the position of the call
     * @param life the life of the run: how often it had begun anew. Every life uses the same positions again
     */
    record Address(RunId run, int position, int life) {}

    /**
     * A value that a run has published.
     *
     * @param offset a number that grows with every value under the same name, possibly with gaps
     * @param at when the run published it
     * @param payload the value
     */
    record Published(long offset, Instant at, Payload payload) {}

    /**
     * Mail that the run has not taken yet, in order, from after a number: at least one mail, if there is one, and then
     * as many as fit into the bytes.
     */
    List<Arrived> unread(RunRef run, long afterNumber, int maxBytes);

    /**
     * A place in a mailbox.
     *
     * @param run the run
     * @param after the number after which to read
     */
    record Unread(RunRef run, long after) {}

    /**
     * The mail after each of these places, as {@link #unread(RunRef, long, int)} reads it after one. A store that can
     * reads all of them with one query.
     *
     * @param maxBytes for each of them
     */
    default Map<Unread, List<Arrived>> unread(Collection<Unread> places, int maxBytes) {
        Map<Unread, List<Arrived>> found = new HashMap<>();
        places.forEach(place -> found.put(place, unread(place.run(), place.after(), maxBytes)));
        return found;
    }

    /**
     * A promise of a run.
     *
     * @param run the run
     * @param name its name
     */
    record Promised(RunRef run, String name) {}

    /**
     * A position in what a run publishes.
     *
     * @param run the run
     * @param name the name of the published values
     * @param after the offset after which to read
     */
    record Place(RunRef run, String name, long after) {}

    /**
     * The values after a place.
     *
     * @param values oldest first
     * @param ended whether the run has ended, so that it publishes no more; values beyond the limits may still follow
     * @param removed whether the run is not there any more
     */
    record Shown(List<Published> values, boolean ended, boolean removed) {
        /** What a run that is there has published. */
        public Shown(List<Published> values, boolean ended) {
            this(values, ended, false);
        }
    }

    /** The values or failures of the promises that are settled, without those that are open. One query for all. */
    Map<Promised, Mail> promises(Collection<Promised> promises);

    /** The value or failure of a promise, if it is settled. */
    default Optional<Mail> promise(RunRef run, String name) {
        return promises(List.of(new Promised(run, name))).values().stream().findFirst();
    }

    /**
     * The call that the token with this hash answers.
     *
     * @param hash begins with the partition of the run if the token has it: see {@link Partitions#ofTokenHash}
     */
    Optional<Address> awakeable(String hash);

    /** The call at this position of the run's current life, if a token can answer it. */
    Optional<Address> awakeable(RunRef run, int position);

    /**
     * The secret from which the engine derives tokens: at least 32 random bytes, made once, the same for every process
     * that opens the store. No query about runs returns it. The store reads it when it opens, so this method never
     * fails.
     */
    byte[] secret();

    /** The calls that wait for this event, in no order. */
    List<Address> subscribers(String event, String key);

    /**
     * The values after these places: for each at least one value, if there is one, and then as many as fit into the
     * bytes, {@code limit} at most. Leaves out a place without values whose run is there and has not ended. One query for
     * all.
     */
    Map<Place, Shown> published(Collection<Place> places, int limit, int maxBytes);

    /**
     * Some values that a run has published under a name.
     *
     * @param values oldest first
     * @param last whether no value follows yet
     */
    record PublishedPage(List<Published> values, boolean last) {}

    /**
     * A page of the values after a place: at least one value, if there is one, and then as many as fit into the bytes,
     * {@code limit} at most.
     */
    PublishedPage published(Place place, int limit, int maxBytes);

    /**
     * A name under which a run has published values.
     *
     * @param name the name
     * @param values how many values, {@link #MOST_COUNTED} at most
     * @param offset the offset of the latest value
     * @param at when the run published that
     */
    record PublishedName(String name, int values, long offset, Instant at) {}

    /** How many values of a name are counted. */
    int MOST_COUNTED = 1_000;

    /**
     * The names under which a run has published values, in their order by UTF-8.
     *
     * @param after the name after which to begin; empty for the first page
     * @param limit how many at most
     */
    List<PublishedName> publishedNames(RunRef run, String after, int limit);

    /** The latest value that a run has published under a name. */
    Optional<Published> latest(RunRef run, String name);
}
