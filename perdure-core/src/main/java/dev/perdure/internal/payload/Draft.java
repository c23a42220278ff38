package dev.perdure.internal.payload;

import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.PayloadOutput;
import dev.perdure.spi.payload.PayloadReference;
import java.util.Arrays;

/**
 * A value that is being encoded, and whose size is not known yet. It has the bytes of a value that is small enough to be
 * stored in place; of a larger one only the hash.
 */
final class Draft extends PayloadOutput {
    private final int inlineBytes;
    private byte[] bytes = Payload.EMPTY.bytes();
    private int count;
    private ContentHash hash = new ContentHash();
    private boolean large;

    Draft(int inlineBytes) {
        this.inlineBytes = inlineBytes;
    }

    @Override
    public void write(byte[] more, int from, int length) {
        if (!large && length <= inlineBytes - count) {
            append(more, from, length);
            return;
        }
        outgrow();
        hash.add(more, from, length);
    }

    @Override
    public void write(Payload whole) {
        if (count == 0 && !large && whole.size() <= inlineBytes) {
            bytes = whole.bytes();
            count = bytes.length;
        } else {
            super.write(whole);
        }
    }

    private void append(byte[] more, int from, int length) {
        if (count == 0) {
            bytes = Arrays.copyOfRange(more, from, from + length); // Most values come in one piece.
        } else {
            if (bytes.length - count < length) {
                bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, count + length));
            }
            System.arraycopy(more, from, bytes, count, length);
        }
        count += length;
    }

    private void outgrow() {
        if (!large) {
            large = true;
            hash.add(bytes, 0, count);
            bytes = Payload.EMPTY.bytes();
            count = 0;
        }
    }

    @Override
    public void restart() {
        bytes = Payload.EMPTY.bytes();
        count = 0;
        large = false;
        hash = new ContentHash();
    }

    /** How many bytes the value has. */
    long size() {
        return large ? hash.size() : count;
    }

    /** Whether the value cannot be stored in place: it is too large, or its bytes would be taken for a reference. */
    boolean isLarge() {
        if (!large && PayloadReference.is(payload())) {
            outgrow();
        }
        return large;
    }

    /** The value, if it is not large. */
    Payload payload() {
        return new Payload(bytes.length == count ? bytes : Arrays.copyOf(bytes, count));
    }

    /** The reference to a large value. */
    PayloadReference reference() {
        return hash.reference();
    }
}
