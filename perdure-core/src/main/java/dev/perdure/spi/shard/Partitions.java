package dev.perdure.spi.shard;

import dev.perdure.RunId;
import dev.perdure.reaction.Reaction;
import dev.perdure.spi.change.ObjectKey;
import java.util.HexFormat;
import java.util.OptionalInt;

/**
 * Which partition a run or a virtual object belongs to. A store with several servers gives each of them some of the
 * partitions. The partition of a run follows from its id alone, so that a process that has only the id knows where the
 * run is. Java's specification fixes the hash, so it is the same in every process and version.
 */
public final class Partitions {
    /** How many partitions there are. */
    public static final int COUNT = 256;

    private static final int LOW_BYTE = COUNT - 1;
    private static final int KEY_DIGITS = 19;
    private static final HexFormat HEX = HexFormat.of();
    private static final char TOKEN_DOT = '.';

    private Partitions() {}

    /**
     * The partition of the run with this id. Only the part before the first slash counts, because the ids that the
     * engine gives to children and tasks begin with the id of their root and a slash. A run that a reaction starts has
     * the partition of the run that it is about, whose key is a part of its id.
     */
    public static int of(RunId run) {
        String id = run.value();
        if (id.startsWith(Reaction.ID_PREFIX)) {
            int begin = id.lastIndexOf('#') + 1;
            int end = id.indexOf('.', begin);
            if (0 < begin && isKey(id, begin, end)) {
                return ofKey(Long.parseUnsignedLong(id, begin, end, 10));
            }
        }
        int slash = id.indexOf('/');
        return ofText(slash < 0 ? id : id.substring(0, slash));
    }

    private static boolean isKey(String id, int begin, int end) {
        return begin < end
                && end - begin <= KEY_DIGITS
                && id.substring(begin, end).chars().allMatch(character -> '0' <= character && character <= '9');
    }

    /** The partition of a virtual object. */
    public static int of(ObjectKey object) {
        return ofText(object.type() + "/" + object.key());
    }

    /**
     * The partition of the runs with this key in a queue, whichever queue it is. An id that begins with the key and a slash is
     * in it, if the key has no slash.
     */
    public static int ofQueueKey(String key) {
        return ofText(key);
    }

    /**
     * The partition in which starts of a definition under a key are decided.
     *
     * @param kind the simple name of the {@link dev.perdure.StartKey}
     */
    public static int ofStart(String definition, String kind, String key) {
        return ofText(definition + "/" + kind + "/" + key);
    }

    /** The partition of any other thing that has a name. */
    public static int ofText(String text) {
        int hash = text.hashCode();
        return (hash ^ hash >>> 16) & LOW_BYTE;
    }

    /** The hash of a token that has the partition of its run: the partition comes first, as two digits and a dot. */
    public static String ofToken(int partition, String hash) {
        return HEX.toHexDigits((byte) partition) + TOKEN_DOT + hash;
    }

    /** The partition with which the hash of a token begins; empty if the token has none. */
    public static OptionalInt ofTokenHash(String hash) {
        return hash.length() > 2 && hash.charAt(2) == TOKEN_DOT
                ? OptionalInt.of(HexFormat.fromHexDigits(hash, 0, 2))
                : OptionalInt.empty();
    }

    /** The partition of the run with this key: every store keeps it as the low byte of the keys that it assigns. */
    public static int ofKey(long key) {
        return (int) key & LOW_BYTE;
    }
}
