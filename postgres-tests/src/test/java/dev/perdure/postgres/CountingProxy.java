package dev.perdure.postgres;

import com.zaxxer.hikari.HikariDataSource;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Stands between driver and server and counts what goes by: a round trip is a Sync or a simple query, a statement is an
 * Execute. So what is counted is what is on the wire, not what a driver reports.
 */
final class CountingProxy implements AutoCloseable {
    private static final int STARTUP_HEADER = 8;
    /** HikariCP reads it when a pool is created. */
    private static final String ALIVE_BYPASS_WINDOW = "com.zaxxer.hikari.aliveBypassWindowMs";

    private final ServerSocket listening;
    private final AtomicInteger roundTrips = new AtomicInteger();
    private final AtomicInteger statements = new AtomicInteger();
    private final AtomicInteger connections = new AtomicInteger();

    CountingProxy() {
        try {
            this.listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofVirtual().start(this::accept);
    }

    PGSimpleDataSource source() {
        PGSimpleDataSource source = TestServer.plain();
        source.setPortNumbers(new int[] {listening.getLocalPort()});
        source.setSslMode("disable");
        source.setGssEncMode("disable");
        return source;
    }

    /**
     * A pool that never checks whether a connection is alive. By default HikariCP sends an empty query on a connection
     * that was idle for half a second, and on a busy machine that is a round trip more in whatever is measured then.
     */
    HikariDataSource pool(int size) {
        String before = System.setProperty(ALIVE_BYPASS_WINDOW, String.valueOf(TimeUnit.HOURS.toMillis(1)));
        try {
            return TestServer.pool(source(), size);
        } finally {
            if (before == null) {
                System.clearProperty(ALIVE_BYPASS_WINDOW);
            } else {
                System.setProperty(ALIVE_BYPASS_WINDOW, before);
            }
        }
    }

    void reset() {
        roundTrips.set(0);
        statements.set(0);
    }

    int roundTrips() {
        return roundTrips.get();
    }

    int statements() {
        return statements.get();
    }

    int connections() {
        return connections.get();
    }

    private void accept() {
        try {
            while (true) {
                Socket client = listening.accept();
                Socket server = new Socket(InetAddress.getLoopbackAddress(), TestServer.port());
                connections.incrementAndGet();
                client.setTcpNoDelay(true);
                server.setTcpNoDelay(true);
                Thread.ofVirtual().start(() -> forward(client, server));
                Thread.ofVirtual().start(() -> backward(server, client));
            }
        } catch (IOException e) {
            // Closed.
        }
    }

    private void forward(Socket client, Socket server) {
        try (client;
                server) {
            DataInputStream in = new DataInputStream(client.getInputStream());
            DataOutputStream out = new DataOutputStream(server.getOutputStream());
            int length = in.readInt();
            out.writeInt(length);
            out.write(in.readNBytes(length - Integer.BYTES));
            out.flush();
            while (true) {
                int type = in.readByte();
                int size = in.readInt();
                byte[] body = in.readNBytes(size - Integer.BYTES);
                count(type);
                out.writeByte(type);
                out.writeInt(size);
                out.write(body);
                if (in.available() < STARTUP_HEADER) {
                    out.flush();
                }
            }
        } catch (IOException e) {
            // One of them hung up.
        }
    }

    private void count(int type) {
        switch (type) {
            case 'S', 'Q' -> roundTrips.incrementAndGet();
            case 'E' -> statements.incrementAndGet();
            default -> {}
        }
    }

    private static void backward(Socket server, Socket client) {
        try (server;
                client;
                InputStream in = server.getInputStream();
                OutputStream out = client.getOutputStream()) {
            in.transferTo(out);
        } catch (IOException e) {
            // One of them hung up.
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
