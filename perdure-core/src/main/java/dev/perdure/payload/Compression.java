package dev.perdure.payload;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.PayloadException;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.PayloadPlace;
import dev.perdure.spi.payload.PayloadTransform;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * Compresses values that are longer than a threshold, if that makes them smaller. It reads values that are not
 * compressed as they are, so it can be turned on at any time. Thread-safe.
 *
 * <p>A compressed value begins with a mark and its original size. A value that would be taken for one is compressed
 * however small it is. A value of more than {@value #MOST_BYTES} bytes is not compressed, so that no stored value can
 * inflate to more.
 */
public final class Compression implements PayloadTransform {
    /** The most bytes of a value that is compressed. */
    public static final int MOST_BYTES = 64 * 1024 * 1024;

    /** A one, and then "zip". */
    private static final int MARK = 0x017a_6970;

    private static final int SIZE_AT = Integer.BYTES;
    private static final int VALUE_AT = SIZE_AT + Integer.BYTES;
    private static final int BUFFER = 8192;

    private final int threshold;

    private Compression(int threshold) {
        this.threshold = threshold;
    }

    /** Compresses values of more than this many bytes. */
    public static Compression over(int bytes) {
        if (bytes < 0) {
            throw new InvalidRequestException(
                    "The threshold of a compression is %s bytes. Give 0 or more, such as 1024.".formatted(bytes));
        }
        return new Compression(bytes);
    }

    @Override
    public Payload apply(Payload encoded, PayloadPlace place) {
        boolean marked = isMarked(encoded);
        if (marked && encoded.size() > MOST_BYTES) {
            throw new PayloadException(
                    "The value for %s has %s bytes and begins like a compressed value, of which the limit is %s. Store it elsewhere and pass a reference."
                            .formatted(place, encoded.size(), MOST_BYTES));
        }
        if (!marked && (encoded.size() <= threshold || encoded.size() > MOST_BYTES)) {
            return encoded;
        }
        Payload compressed = compressed(encoded.bytes());
        return marked || compressed.size() < encoded.size() ? compressed : encoded;
    }

    private static boolean isMarked(Payload payload) {
        return payload.size() >= VALUE_AT && ByteBuffer.wrap(payload.bytes()).getInt() == MARK;
    }

    private static Payload compressed(byte[] bytes) {
        Deflater deflater = new Deflater();
        try {
            deflater.setInput(bytes);
            deflater.finish();
            ByteArrayOutputStream output = new ByteArrayOutputStream(BUFFER);
            output.writeBytes(ByteBuffer.allocate(VALUE_AT)
                    .putInt(MARK)
                    .putInt(bytes.length)
                    .array());
            byte[] buffer = new byte[BUFFER];
            while (!deflater.finished()) {
                output.write(buffer, 0, deflater.deflate(buffer));
            }
            return new Payload(output.toByteArray());
        } finally {
            deflater.end();
        }
    }

    @Override
    public Payload undo(Payload stored, PayloadPlace place) {
        return isMarked(stored) ? inflated(stored.bytes(), place) : stored;
    }

    /** Needs no more memory than the value that was compressed, whatever the bytes say. */
    private static Payload inflated(byte[] stored, PayloadPlace place) {
        int size = ByteBuffer.wrap(stored).getInt(SIZE_AT);
        if (size < 0 || size > MOST_BYTES) {
            throw damaged(place);
        }
        Inflater inflater = new Inflater();
        try {
            inflater.setInput(stored, VALUE_AT, stored.length - VALUE_AT);
            byte[] value = new byte[0];
            int count = 0;
            while (!inflater.finished()) {
                if (count == value.length) {
                    value = Arrays.copyOf(value, Math.min(size, Math.max(BUFFER, 2 * count)) + 1);
                }
                int more = inflater.inflate(value, count, value.length - count);
                count += more;
                if (count > size || (more == 0 && !inflater.finished())) {
                    throw damaged(place);
                }
            }
            if (count != size || inflater.getRemaining() > 0) {
                throw damaged(place);
            }
            return new Payload(Arrays.copyOf(value, count));
        } catch (DataFormatException wrong) {
            throw damaged(place);
        } finally {
            inflater.end();
        }
    }

    private static PayloadException damaged(PayloadPlace place) {
        return new PayloadException(
                "The compressed value for %s is damaged. Restore it from a backup.".formatted(place));
    }
}
