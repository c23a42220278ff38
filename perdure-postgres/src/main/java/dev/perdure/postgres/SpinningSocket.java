package dev.perdure.postgres;

import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;

/**
 * A socket whose reader looks for the answer to what was sent for as long as {@link Patience} says, before it sleeps. What follows
 * the beginning of an answer is read as ever. Long timeouts are kept by a {@link Vigil}. As all connections of the driver it is used by one thread at a time.
 */
final class SpinningSocket extends Socket {
    private static final boolean ROOM = Runtime.getRuntime().availableProcessors() > 1;

    /** By this the driver asks whether anything more has come, after each notification; it would always wait for so many milliseconds. */
    private static final int JUST_LOOKING = 1;

    /** Timeouts of this and more are for connections that are lost. */
    private static final Duration LONG = Duration.ofSeconds(1);

    private final Patience patience = new Patience();
    private final Vigil vigil = new Vigil(this, LONG);
    /** In milliseconds; 0 if it is not long, and left to the socket. */
    private volatile int watchedTimeout;

    private boolean asked;
    private boolean justLooking;
    /** Since nobody has looked for more. */
    private boolean somethingCame;

    @Override
    public void setSoTimeout(int millis) throws SocketException {
        boolean isLong = millis >= LONG.toMillis();
        super.setSoTimeout(isLong ? 0 : millis);
        vigil.allow(Duration.ofMillis(millis));
        watchedTimeout = isLong ? millis : 0;
        justLooking = millis == JUST_LOOKING;
    }

    @Override
    public int getSoTimeout() throws SocketException {
        return watchedTimeout > 0 ? watchedTimeout : super.getSoTimeout();
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
            int count = asked && ROOM ? readAnswer(bytes, offset, length) : readWatched(bytes, offset, length);
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
                return readWatched(bytes, offset, length);
            } finally {
                patience.waited(System.nanoTime() - since);
            }
        }

        private int readWatched(byte[] bytes, int offset, int length) throws IOException {
            if (watchedTimeout == 0) {
                return in.read(bytes, offset, length);
            }
            vigil.begin();
            int count;
            try {
                count = in.read(bytes, offset, length);
            } catch (IOException e) {
                vigil.end();
                throw e;
            }
            vigil.end();
            return count;
        }
    }
}
