package dev.perdure.benchmarks.server;

import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;

/**
 * A plain socket that counts round trips: reads that follow a write, however many reads and writes there are in a row. So statements that are
 * sent together are one, and notifications, for which nothing is sent, are none.
 *
 * <p>It adds a comparison to each call, and some ten nanoseconds to a round trip.
 */
final class CountingSocket extends Socket {
    /** Whether something was sent that was not read after. A connection is used by one thread at a time, which its owner sees to. */
    private boolean sent;

    @Override
    public InputStream getInputStream() throws IOException {
        return new FilterInputStream(super.getInputStream()) {
            @Override
            public int read() throws IOException {
                noteRead();
                return in.read();
            }

            @Override
            public int read(byte[] bytes, int offset, int length) throws IOException {
                noteRead();
                return in.read(bytes, offset, length);
            }
        };
    }

    @Override
    public OutputStream getOutputStream() throws IOException {
        return new FilterOutputStream(super.getOutputStream()) {
            @Override
            public void write(int value) throws IOException {
                sent = true;
                out.write(value);
            }

            @Override
            public void write(byte[] bytes, int offset, int length) throws IOException {
                sent = true;
                out.write(bytes, offset, length);
            }
        };
    }

    private void noteRead() {
        if (sent) {
            sent = false;
            RoundTrips.add();
        }
    }
}
