package dev.perdure.internal.execution.child;

import dev.perdure.spi.change.Payload;

/**
 * A short number by which an input is compared with the one of an earlier execution, which is not at hand any more.
 *
 * <p>How it works: a payload is cut at the separators of JSON, and the hashes of its pieces are added up, so that it does not matter in which
 * order a set or a map gives its elements, which differs from process to process. A name whose value is null is left out, so that a
 * field that was added to a class and is not set changes nothing. Any other difference does, nearly always.
 */
final class Fingerprint {
    private static final long OFFSET = 0xcbf29ce484222325L;
    private static final long PRIME = 0x100000001b3L;
    private static final long NULL = hash("null");

    private Fingerprint() {}

    private static long hash(String text) {
        long hash = OFFSET;
        for (int i = 0; i < text.length(); i++) {
            hash = (hash ^ text.charAt(i)) * PRIME;
        }
        return hash;
    }

    static String of(Payload payload) {
        long sum = 0;
        long name = 0;
        long piece = OFFSET;
        for (byte next : payload.bytes()) {
            if (next == ':') {
                name = mixed(31 * name + piece);
                piece = OFFSET;
            } else if (isSeparator(next)) {
                sum += ended(name, piece);
                name = 0;
                piece = OFFSET;
            } else {
                piece = (piece ^ (next & 0xff)) * PRIME;
            }
        }
        return Long.toHexString(sum + ended(name, piece));
    }

    private static boolean isSeparator(byte next) {
        return next == ',' || next == '{' || next == '}' || next == '[' || next == ']';
    }

    /** What a name and its value add, or a value without one. */
    private static long ended(long name, long piece) {
        if (name == 0) {
            return piece == OFFSET ? 0 : mixed(piece);
        }
        return piece == NULL ? 0 : mixed(name + 31 * piece);
    }

    /** So that what is added up does not cancel out. */
    private static long mixed(long hash) {
        long mixed = (hash ^ (hash >>> 33)) * 0xff51afd7ed558ccdL;
        return mixed ^ (mixed >>> 29);
    }
}
