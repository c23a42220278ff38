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
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Stands between driver and server and counts what goes by: a round trip is a Sync or a simple query, a statement is an
 * Execute. So what is counted is what is on the wire, not what a driver reports. The settings that each transaction of the
 * store states for itself are not counted as statements, but a transaction without them is noted.
 */
final class CountingProxy implements AutoCloseable {
    private static final int STARTUP_HEADER = 8;
    /** HikariCP reads it when a pool is created. */
    private static final String ALIVE_BYPASS_WINDOW = "com.zaxxer.hikari.aliveBypassWindowMs";

    private final ServerSocket listening;
    private final AtomicInteger roundTrips = new AtomicInteger();
    private final AtomicInteger statements = new AtomicInteger();
    private final AtomicInteger connections = new AtomicInteger();
    private final Set<String> unsettled = ConcurrentHashMap.newKeySet();

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

    /** The transactions that did not begin with the settings of the store, by their first statements. */
    Set<String> unsettled() {
        return unsettled;
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
            Transactions transactions = new Transactions();
            while (true) {
                int type = in.readByte();
                int size = in.readInt();
                byte[] body = in.readNBytes(size - Integer.BYTES);
                count(type, body, transactions);
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

    private void count(int type, byte[] body, Transactions transactions) {
        switch (type) {
            case 'S' -> {
                roundTrips.incrementAndGet();
                transactions.sync();
            }
            case 'Q' -> {
                roundTrips.incrementAndGet();
                transactions.execute(text(body, 0));
                transactions.sync();
            }
            case 'P' -> transactions.texts.put(text(body, 0), text(body, 1));
            case 'B' -> transactions.bound = transactions.texts.getOrDefault(text(body, 1), "");
            case 'E' -> statements.addAndGet(transactions.execute(transactions.bound) ? 1 : 0);
            default -> {}
        }
    }

    /** One of the texts with which a message begins. */
    private static String text(byte[] body, int which) {
        int from = 0;
        int end = 0;
        for (int i = 0; i <= which; i++) {
            from = i == 0 ? 0 : end + 1;
            end = from;
            while (body[end] != 0) {
                end++;
            }
        }
        return new String(body, from, end - from, StandardCharsets.UTF_8);
    }

    /** The transactions of a connection, as its messages begin and end them. */
    private final class Transactions {
        private static final String FIRST = "SET transaction_isolation = 'read committed'";
        private static final Pattern OTHERS =
                Pattern.compile("SELECT length\\(set_config\\('jit', 'off', true\\)\\)[^;]*|SET LOCAL jit = off");

        final Map<String, String> texts = new HashMap<>();
        String bound = "";
        /** Whether BEGIN has begun the transaction, and not a request. */
        private boolean isBlock;

        private boolean isNew = true;

        void sync() {
            isNew = isNew || !isBlock;
        }

        /** Returns whether it is not one of the settings. */
        boolean execute(String statement) {
            String text = statement.strip();
            boolean isFirst = text.equals(FIRST);
            switch (text) {
                case "BEGIN" -> isBlock = true;
                case "COMMIT", "ROLLBACK" -> isBlock = false;
                default -> {
                    if (isNew && !isFirst && !text.isEmpty()) {
                        unsettled.add(text);
                    }
                    isNew = false;
                }
            }
            return !isFirst && !OTHERS.matcher(text).matches();
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
