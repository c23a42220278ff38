package dev.perdure.spi.payload;

import dev.perdure.RunId;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds the stored values that may need another key than the present one, and replaces their bytes, so that an old key
 * can be thrown away. It is the only role that changes bytes of values that are recorded already; the values stay the
 * same.
 *
 * <p>A value may be written, copied or removed between {@link #read} and {@link #replace}. So a replacement names the
 * bytes that it is for, and does nothing if the store has others by then. Repeating it has no effect.
 */
public interface StoredValues {
    /** Where the store keeps a value: from this the engine knows the places for which the value can have been made. */
    sealed interface Site {
        /** The input of a run, also of one that is still to be started. */
        record Input(RunId run) implements Site {}

        /** The result or the failure of a run. */
        record Result(RunId run) implements Site {}

        /**
         * An entry of a journal, or what an attempt at the step there has reported.
         *
         * @param run the run
         * @param position the position in its journal
         * @param object the virtual object, if the entry is a state of it; otherwise null
         * @param name the name of the entry
         */
        record Position(RunId run, int position, @Nullable ObjectKey object, String name) implements Site {}

        /** Mail for a run, also mail that has not been delivered yet. */
        record Mailed(RunId run, Channel channel) implements Site {}

        /** What a run has published. */
        record Published(RunId run, String topic) implements Site {}

        /** A value of a virtual object. */
        record State(ObjectKey object, String name) implements Site {}

        /** An attribute of a run, also of one that is still to be started. */
        record Attribute(RunId run, String name) implements Site {}
    }

    /**
     * A stored value.
     *
     * @param address identifies it for {@link #replace}; only the store knows what it means
     * @param site where it is
     * @param payload its bytes
     */
    record Value(List<String> address, Site site, Payload payload) {}

    /**
     * Some values.
     *
     * @param values the values; there may be none although others follow
     * @param reached where to go on; empty if these are the last
     */
    record Page(List<Value> values, List<String> reached) {}

    /**
     * Other bytes for a value.
     *
     * @param address the address of the value
     * @param before the bytes that the store must still have
     * @param after the bytes that it is to have
     */
    record Replacement(List<String> address, Payload before, Payload after) {}

    /** The values of a page have about this many bytes at most, unless it has only one. */
    long PAGE_BYTES = 8L * 1024 * 1024;

    /**
     * The next values that {@linkplain #concerns concern} an operator who wants to keep only one key, in an order in
     * which no value changes its place. A value that is there all the time is on one of the pages.
     *
     * @param after where to go on, or an empty list for the beginning
     * @param key the id of the key that stays
     */
    Page read(List<String> after, String key);

    /**
     * Replaces those values that still have the bytes of before. It does not wait for a value that another transaction
     * is changing, and leaves that as it is.
     *
     * @return how many it has replaced
     */
    int replace(List<Replacement> replacements);

    /** Whether a payload is encrypted with another key than this one, or is large, so that its bytes do not show it. */
    static boolean concerns(Payload payload, String key) {
        return PayloadReference.is(payload)
                || EncryptedPayload.of(payload)
                        .filter(encrypted -> !encrypted.key().equals(key))
                        .isPresent();
    }

    /** Whether an entry of this kind has a value that was made for a virtual object and not for its position. */
    static boolean isState(Entry.Kind kind) {
        return kind == Entry.Kind.STATE;
    }
}
