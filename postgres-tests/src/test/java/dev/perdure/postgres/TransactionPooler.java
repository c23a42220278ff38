package dev.perdure.postgres;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A pooler in transaction mode: a few connections to the server, and each transaction of whatever client goes to the
 * one that has been free for longest, so hardly ever to the one before.
 *
 * <p>How it works: a client's greeting is passed through to the server, which so checks the password itself. The
 * connection that comes of it serves everyone from then on, or is closed when there are enough. Whatever would outlive
 * its transaction on a connection, and so be missing or in the way on the next, is passed on but noted down.
 */
final class TransactionPooler implements AutoCloseable {
    private static final Pattern OUTLIVES_ITS_TRANSACTION = Pattern.compile(
            "^\\s*((LISTEN|UNLISTEN|RESET|PREPARE|DECLARE|DISCARD)\\b|SET\\s+(?!LOCAL\\b|transaction_isolation\\b)|CREATE\\s+(LOCAL\\s+|GLOBAL\\s+)?TEMP)"
                    + "|pg_(try_)?advisory_lock|set_config\\([^)]*\\bfalse\\s*\\)",
            Pattern.CASE_INSENSITIVE | Pattern.MULTILINE);
    /** A function declares variables, not cursors. */
    private static final Pattern FUNCTION_BODY = Pattern.compile("\\$\\$.*?\\$\\$", Pattern.DOTALL);

    /** A message of the protocol. */
    private static final class Message {
        private final int type;
        private final byte[] body;

        private Message(int type, byte[] body) {
            this.type = type;
            this.body = body;
        }

        static Message read(DataInputStream in) throws IOException {
            int type = in.readByte();
            return new Message(type, in.readNBytes(in.readInt() - Integer.BYTES));
        }

        void write(DataOutputStream out) throws IOException {
            out.writeByte(type);
            out.writeInt(body.length + Integer.BYTES);
            out.write(body);
        }

        /** The n-th of the texts that it begins with. */
        String text(int n) {
            return new String(body, StandardCharsets.UTF_8).split("\0", n + 2)[n];
        }
    }

    /** Either side of a connection. */
    private static final class Side implements AutoCloseable {
        final Socket socket;
        final DataInputStream in;
        final DataOutputStream out;

        Side(Socket socket) throws IOException {
            this.socket = socket;
            socket.setTcpNoDelay(true);
            this.in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
            this.out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    private final ServerSocket listening;
    private final int size;
    private final AtomicInteger opened = new AtomicInteger();
    private final BlockingQueue<Side> free = new LinkedBlockingQueue<>();
    private final AtomicInteger moves = new AtomicInteger();
    private final Set<String> sessionState = ConcurrentHashMap.newKeySet();
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

    /** With so many connections to the server. */
    TransactionPooler(int size) {
        this.size = size;
        try {
            this.listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofVirtual().start(this::accept);
    }

    /** As one has to connect through a pooler that knows no prepared statements. */
    PGSimpleDataSource source() {
        PGSimpleDataSource source = TestServer.plain();
        source.setPortNumbers(new int[] {listening.getLocalPort()});
        source.setSslMode("disable");
        source.setGssEncMode("disable");
        source.setPrepareThreshold(0);
        // The driver's own settings are part of the greeting then, not statements after it.
        source.setAssumeMinServerVersion("14");
        return source;
    }

    /** How often a client's transaction was on another connection than the one before it. */
    int moves() {
        return moves.get();
    }

    /** What was sent although it outlives its transaction. */
    Set<String> sessionState() {
        return Set.copyOf(sessionState);
    }

    private void accept() {
        try {
            while (true) {
                Socket socket = listening.accept();
                Thread.ofVirtual().start(() -> serve(socket));
            }
        } catch (IOException e) {
            // Closed.
        }
    }

    private void serve(Socket socket) {
        sockets.add(socket);
        try (Side client = new Side(socket)) {
            contribute(greet(client));
            @Nullable Side last = null;
            while (true) {
                List<Message> request = request(client);
                if (request.isEmpty()) {
                    return;
                }
                last = transaction(client, request, last);
            }
        } catch (IOException e) {
            // One of them hung up.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            sockets.remove(socket);
        }
    }

    private Side greet(Side client) throws IOException {
        Side server = new Side(new Socket(InetAddress.getLoopbackAddress(), TestServer.port()));
        sockets.add(server.socket);
        byte[] greeting = client.in.readNBytes(client.in.readInt() - Integer.BYTES);
        server.out.writeInt(greeting.length + Integer.BYTES);
        server.out.write(greeting);
        server.out.flush();
        while (true) {
            Message answer = Message.read(server.in);
            answer.write(client.out);
            client.out.flush();
            if (answer.type == 'Z') {
                return server;
            }
            // 10 to 12 are the steps of SCRAM; to the last of them there is nothing to reply.
            if (answer.type == 'R' && (answer.body[3] == 10 || answer.body[3] == 11)) {
                Message.read(client.in).write(server.out);
                server.out.flush();
            }
        }
    }

    private void contribute(Side server) throws IOException {
        if (opened.incrementAndGet() <= size) {
            free.add(server);
        } else {
            sockets.remove(server.socket);
            server.close();
        }
    }

    /** Everything up to where the client waits for an answer; nothing when it takes its leave. */
    private List<Message> request(Side client) throws IOException {
        List<Message> request = new ArrayList<>();
        while (true) {
            Message message = Message.read(client.in);
            switch (message.type) {
                case 'X' -> {
                    return List.of();
                }
                case 'P' -> {
                    if (!message.text(0).isEmpty()) {
                        sessionState.add("the prepared statement " + message.text(0));
                    }
                    check(message.text(1));
                }
                case 'Q' -> check(message.text(0));
                default -> {}
            }
            request.add(message);
            if (message.type == 'S' || message.type == 'Q') {
                return request;
            }
        }
    }

    private void check(String sql) {
        String withoutBodies = FUNCTION_BODY.matcher(sql).replaceAll("");
        if (OUTLIVES_ITS_TRANSACTION.matcher(withoutBodies).find()) {
            sessionState.add(sql);
        }
    }

    private Side transaction(Side client, List<Message> first, @Nullable Side last)
            throws IOException, InterruptedException {
        Side server = free.take();
        if (last != null && last != server) {
            moves.incrementAndGet();
        }
        boolean over = false;
        try {
            List<Message> request = first;
            while (answer(client, server, request)) {
                request = request(client);
            }
            over = true;
            return server;
        } finally {
            if (over) {
                free.add(server);
            } else {
                // The next client gets another one.
                opened.decrementAndGet();
                server.close();
            }
        }
    }

    /** Passes on a request and its answer; says whether the transaction goes on. */
    private static boolean answer(Side client, Side server, List<Message> request) throws IOException {
        for (Message message : request) {
            message.write(server.out);
        }
        server.out.flush();
        while (true) {
            Message answer = Message.read(server.in);
            answer.write(client.out);
            if (answer.type == 'Z') {
                client.out.flush();
                return answer.body[0] != 'I';
            }
        }
    }

    @Override
    public void close() {
        try {
            listening.close();
            for (Socket socket : sockets) {
                socket.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
