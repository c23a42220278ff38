package dev.perdure.internal.execution.child;

import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.PayloadOutput;

/**
 * A short number that identifies an input, so that it can be compared with the input of an earlier execution, which is
 * no longer at hand.
 *
 * <p>How it works: it cuts a payload at the separators of JSON and adds up the hashes of the pieces. So the order in
 * which a set or a map returns its elements, which differs between processes, does not matter. It leaves out a name
 * whose value is null, so that a new field of a class that is not set changes nothing. Nearly every other difference
 * changes the number.
 */
final class Fingerprint extends PayloadOutput {
    private static final long OFFSET = 0xcbf29ce484222325L;
    private static final long PRIME = 0x100000001b3L;
    private static final long NULL = hash("null");

    private long sum;
    private long name;
    private long piece = OFFSET;

    private static long hash(String text) {
        long hash = OFFSET;
        for (int i = 0; i < text.length(); i++) {
            hash = (hash ^ text.charAt(i)) * PRIME;
        }
        return hash;
    }

    static String of(Payload payload) {
        Fingerprint fingerprint = new Fingerprint();
        fingerprint.write(payload);
        return fingerprint.text();
    }

    @Override
    public void write(byte[] bytes, int from, int length) {
        for (int i = from; i < from + length; i++) {
            byte next = bytes[i];
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
    }

    @Override
    public void restart() {
        sum = 0;
        name = 0;
        piece = OFFSET;
    }

    /** The number of what was written. */
    String text() {
        return Long.toHexString(sum + ended(name, piece));
    }

    private static boolean isSeparator(byte next) {
        return next == ',' || next == '{' || next == '}' || next == '[' || next == ']';
    }

    /** What a name with its value contributes, or a value without a name. */
    private static long ended(long name, long piece) {
        if (name == 0) {
            return piece == OFFSET ? 0 : mixed(piece);
        }
        return piece == NULL ? 0 : mixed(name + 31 * piece);
    }

    /** Mixes the bits, so that the sum does not cancel out. */
    private static long mixed(long hash) {
        long mixed = (hash ^ (hash >>> 33)) * 0xff51afd7ed558ccdL;
        return mixed ^ (mixed >>> 29);
    }
}
