package dev.perdure.postgres;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Stands between driver and server and delivers late: it keeps back what is sent next on one connection, also when the
 * client has given up and closed that connection, until the test wants it delivered. So the network may do with any
 * packet.
 */
final class HoldingProxy implements AutoCloseable {
    private static final int SILENCE_SECONDS = 1;

    private final ServerSocket listening;
    private final AtomicReference<Held> next = new AtomicReference<>();

    HoldingProxy() {
        try {
            this.listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofVirtual().start(this::accept);
    }

    /** Opens connections that give up after a second without an answer. */
    PGSimpleDataSource source() {
        PGSimpleDataSource source = TestServer.plain();
        source.setPortNumbers(new int[] {listening.getLocalPort()});
        source.setSslMode("disable");
        source.setGssEncMode("disable");
        source.setSocketTimeout(SILENCE_SECONDS);
        return source;
    }

    /** What was kept back. */
    static final class Held {
        private final CompletableFuture<Void> released = new CompletableFuture<>();
        private final CompletableFuture<Void> answered = new CompletableFuture<>();

        /** Lets it through, and waits until the server has carried it out. */
        void deliver() throws Exception {
            released.complete(null);
            answered.get(10, TimeUnit.SECONDS);
        }
    }

    /** Keeps back what is sent next. */
    Held holdNext() {
        Held held = new Held();
        next.set(held);
        return held;
    }

    private void accept() {
        try {
            while (true) {
                Socket client = listening.accept();
                Socket server = new Socket(InetAddress.getLoopbackAddress(), TestServer.port());
                client.setTcpNoDelay(true);
                server.setTcpNoDelay(true);
                new Link(client, server).run();
            }
        } catch (IOException e) {
            // Closed.
        }
    }

    /** One connection. */
    private final class Link {
        private final Socket client;
        private final Socket server;
        private volatile Held held;

        Link(Socket client, Socket server) {
            this.client = client;
            this.server = server;
        }

        void run() {
            Thread.ofVirtual().start(this::forward);
            Thread.ofVirtual().start(this::backward);
        }

        private void forward() {
            try (client;
                    server) {
                DataInputStream in = new DataInputStream(client.getInputStream());
                DataOutputStream out = new DataOutputStream(server.getOutputStream());
                int length = in.readInt();
                out.writeInt(length);
                out.write(in.readNBytes(length - Integer.BYTES));
                while (true) {
                    int type = in.readByte();
                    if (type != 'p' && type != 'X' && held == null) { // neither a password nor the end of a connection
                        held = next.getAndSet(null);
                    }
                    ByteArrayOutputStream message = new ByteArrayOutputStream();
                    DataOutputStream copy = new DataOutputStream(message);
                    int size = in.readInt();
                    copy.writeByte(type);
                    copy.writeInt(size);
                    copy.write(in.readNBytes(size - Integer.BYTES));
                    if (held != null) {
                        keepBack(message, in);
                        message.writeTo(out);
                        held.answered.get(10, TimeUnit.SECONDS);
                        return;
                    }
                    message.writeTo(out);
                }
            } catch (Exception e) {
                // One of them hung up.
            }
        }

        /** Gathers what the client sends until it hangs up, and then waits for the test. */
        private void keepBack(ByteArrayOutputStream kept, DataInputStream in) throws Exception {
            try {
                in.transferTo(kept);
            } catch (EOFException | java.net.SocketException hungUp) {
                // What came is kept.
            }
            held.released.get(30, TimeUnit.SECONDS);
        }

        private void backward() {
            try {
                DataInputStream in = new DataInputStream(server.getInputStream());
                DataOutputStream out = new DataOutputStream(client.getOutputStream());
                while (true) {
                    byte type = in.readByte();
                    int size = in.readInt();
                    byte[] body = in.readNBytes(size - Integer.BYTES);
                    if (held == null) {
                        out.writeByte(type);
                        out.writeInt(size);
                        out.write(body);
                    } else if (type == 'Z') {
                        held.answered.complete(null);
                    }
                }
            } catch (IOException e) {
                // One of them hung up; if it was the server, it has refused what came late.
                if (held != null) {
                    held.answered.complete(null);
                }
            }
        }
    }

    @Override
    public void close() {
        try {
            listening.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
