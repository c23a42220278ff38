package dev.perdure.postgres;

import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;

/**
 * A socket whose reader looks for the answer to what was sent for as long as {@link Patience} says, before it sleeps. What follows
 * the beginning of an answer is read as ever. As all connections of the driver it is used by one thread at a time.
 */
final class SpinningSocket extends Socket {
    private static final boolean ROOM = Runtime.getRuntime().availableProcessors() > 1;

    /** By this the driver asks whether anything more has come, after each notification; it would always wait for so many milliseconds. */
    private static final int JUST_LOOKING = 1;

    private final Patience patience = new Patience();
    private boolean asked;
    private boolean justLooking;
    /** Since nobody has looked for more. */
    private boolean somethingCame;

    @Override
    public void setSoTimeout(int millis) throws SocketException {
        super.setSoTimeout(millis);
        justLooking = millis == JUST_LOOKING;
    }

    @Override
    public OutputStream getOutputStream() throws IOException {
        return new Outgoing(super.getOutputStream());
    }

    @Override
    public InputStream getInputStream() throws IOException {
        return new Incoming(super.getInputStream());
    }

    private final class Outgoing extends FilterOutputStream {
        private Outgoing(OutputStream out) {
            super(out);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            asked = true;
            out.write(bytes, offset, length);
        }
    }

    private final class Incoming extends FilterInputStream {
        private Incoming(InputStream in) {
            super(in);
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            boolean more = somethingCame;
            somethingCame = false;
            // The second time in a row it has to be read: only so a lost connection is found out.
            if (justLooking && more && in.available() == 0) {
                throw new SocketTimeoutException("Nothing more has come.");
            }
            int count = asked && ROOM ? readAnswer(bytes, offset, length) : in.read(bytes, offset, length);
            somethingCame = count > 0;
            return count;
        }

        private int readAnswer(byte[] bytes, int offset, int length) throws IOException {
            asked = false;
            long since = System.nanoTime();
            long patient = patience.nanos();
            try {
                while (System.nanoTime() - since < patient && in.available() == 0) {
                    Thread.onSpinWait();
                }
                return in.read(bytes, offset, length);
            } finally {
                patience.waited(System.nanoTime() - since);
            }
        }
    }
}
