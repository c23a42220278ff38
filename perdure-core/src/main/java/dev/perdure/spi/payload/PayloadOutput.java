package dev.perdure.spi.payload;

import dev.perdure.spi.change.Payload;
import java.io.OutputStream;

/**
 * Takes the bytes of a value from a codec. It throws no {@code IOException}; closing and flushing have no effect. For
 * one thread only.
 */
public abstract class PayloadOutput extends OutputStream {
    /** For the engine. */
    protected PayloadOutput() {}

    @Override
    public final void write(int next) {
        write(new byte[] {(byte) next}, 0, 1);
    }

    @Override
    public final void write(byte[] bytes) {
        write(bytes, 0, bytes.length);
    }

    @Override
    public abstract void write(byte[] bytes, int from, int length);

    /** Takes a whole value, which nobody changes any more. */
    public void write(Payload payload) {
        write(payload.bytes());
    }

    /** Forgets what was written: the codec begins again. */
    public abstract void restart();

    @Override
    public final void flush() {}

    @Override
    public final void close() {}
}
