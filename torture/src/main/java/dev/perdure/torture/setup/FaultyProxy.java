package dev.perdure.torture.setup;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Stands between pools and server and does what a bad network does.
 *
 * <ul>
 *   <li>It loses answers: of some round trips it passes the question on, waits until the server is done with it, which
 *       is after its commit, and closes both sides instead of passing the answer on. So the client cannot know that it
 *       was done. It loses the first of every kind, so that a test need not hope for it, and then some at random.
 *   <li>It loses notifications.
 *   <li>It holds connections: nothing goes either way, and no side learns of it. What a client has sent arrives when
 *       they are let go, even if that client has given up.
 *   <li>It holds the renewals of one process, so that this process does not learn that it has lost its lease.
 * </ul>
 *
 * <p>It reads the protocol (a type, a length, a body) to know where a round trip ends, and which of our statements were
 * in it and how many rows each gave, so that a test can tell what was hit.
 */
public final class FaultyProxy implements AutoCloseable {
    /**
     * What a lost answer was about; found by words that only its statements have: those for many, for plain ones, for
     * one.
     */
    public enum Kind {
        START("INSERT INTO perdure.run (id, definition, "),
        CLAIM("SELECT g.rank, g.since, g.alone"),
        APPEND("AS at FROM perdure.lane"),
        WAIT_OR_GIVE_BACK("state_now, entered_at, moved_at, changed_at FROM decided", "FROM waiting)::int AS all_held"),
        END("false AS woken, state, epoch, state_now", "FROM ended)::int AS all_held", "SELECT at FROM ended"),
        TRANSACTION("SELECT ln(count(*)::float8) AS fence"),
        RENEW("expires_at = clock_timestamp() + lease, missing_since = NULL");

        private final String words;

        Kind(String... words) {
            this.words = String.join("\n", words);
        }

        private boolean isOf(String statement) {
            return words.lines().anyMatch(statement::contains);
        }
    }

    private static final CountDownLatch PASSING = new CountDownLatch(0);

    private final ServerSocket listening;
    private volatile int serverPort;
    private final int oneIn;
    private final Random chance;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Kind, Integer> hits = new EnumMap<>(Kind.class);
    private int cuts;
    private final Set<Link> links = ConcurrentHashMap.newKeySet();
    private volatile boolean cutting;
    private volatile boolean silent;
    private final Map<String, CountDownLatch> heldRenewals = new ConcurrentHashMap<>();
    private final AtomicLong silenced = new AtomicLong();
    private final AtomicLong hungUp = new AtomicLong();

    /** Loses one answer in so many, once {@link #cutting(boolean)} says so. */
    public FaultyProxy(int serverPort, int oneIn, long seed) {
        this.serverPort = serverPort;
        this.oneIn = oneIn;
        this.chance = new Random(seed);
        try {
            this.listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofVirtual().start(this::accept);
    }

    /** Where it listens. */
    public int port() {
        return listening.getLocalPort();
    }

    /** Passes new connections on to another server on this machine. */
    public void redirect(int port) {
        serverPort = port;
    }

    /** Begins to lose answers, or ends it. */
    public void cutting(boolean on) {
        cutting = on;
    }

    /** How many answers were lost. */
    public int cuts() {
        lock.lock();
        try {
            return cuts;
        } finally {
            lock.unlock();
        }
    }

    /** How many lost answers had such a statement, with something done by it. */
    public Map<Kind, Integer> hits() {
        lock.lock();
        try {
            return new EnumMap<>(hits);
        } finally {
            lock.unlock();
        }
    }

    /** Begins to lose notifications, or ends it. */
    public void silent(boolean on) {
        silent = on;
    }

    /** How many notifications were lost. */
    public long silenced() {
        return silenced.get();
    }

    /** How many clients have closed their connection without saying so: they died, or gave up waiting. */
    public long hungUp() {
        return hungUp.get();
    }

    /** Holds the connections that there are now, each with a chance of one in so many. */
    public Held hold(int oneInSoMany) {
        return hold(link -> chance.nextInt(oneInSoMany) == 0);
    }

    /** Holds the connections on which clients listen now. */
    public Held holdListening() {
        return hold(link -> link.listens);
    }

    /** Holds the connection that this process of the server serves, also when that process has ended. */
    public Held holdBackend(int pid) {
        return hold(link -> link.backend == pid);
    }

    /**
     * Holds every connection on which this process renews a lease, from the renewal on. Its other connections pass.
     *
     * @param process the {@link Address#named name} that its connections have given the server
     */
    public Held holdRenewals(String process) {
        CountDownLatch end = new CountDownLatch(1);
        heldRenewals.put(process, end);
        return new Held(
                links.stream().filter(link -> process.equals(link.process)).count(), end);
    }

    private Held hold(Predicate<Link> which) {
        CountDownLatch end = new CountDownLatch(1);
        long count = links.stream()
                .filter(link -> link.passing.getCount() == 0 && which.test(link))
                .peek(link -> link.passing = end)
                .count();
        return new Held(count, end);
    }

    /** Connections on which nothing goes either way. Closing it lets them go. */
    public static final class Held implements AutoCloseable {
        private final long size;
        private final CountDownLatch end;

        private Held(long size, CountDownLatch end) {
            this.size = size;
            this.end = end;
        }

        /** How many there are. */
        public long size() {
            return size;
        }

        @Override
        public void close() {
            end.countDown();
        }
    }

    /** Whether the answer is to be lost, which is then counted. */
    private boolean lose(RoundTrip trip) {
        lock.lock();
        try {
            // A batch only: connecting and the pool's own questions have no commit to lose.
            if (!cutting || trip.statements.isEmpty()) {
                return false;
            }
            List<Kind> done = trip.done();
            if (hits.keySet().containsAll(done) && chance.nextInt(oneIn) != 0) {
                return false;
            }
            cuts++;
            done.forEach(kind -> hits.merge(kind, 1, Integer::sum));
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void accept() {
        try {
            while (true) {
                connect(listening.accept());
            }
        } catch (IOException e) {
            // Closed.
        }
    }

    private void connect(Socket client) throws IOException {
        try {
            Socket server = new Socket(InetAddress.getLoopbackAddress(), serverPort);
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
            new Link(client, server).run();
        } catch (IOException e) {
            client.close(); // the server is down, and so is what stands in front of it
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

    /** What was asked between two Syncs, and what came back. */
    private static final class RoundTrip {
        private final List<String> statements = new ArrayList<>();
        private final List<Integer> rows = new ArrayList<>(List.of(0));
        private final ByteArrayOutputStream answer = new ByteArrayOutputStream();

        void answer(int type, byte[] message) {
            answer.write(type);
            answer.writeBytes(message);
            if (type == 'D') {
                rows.set(rows.size() - 1, rows.getLast() + 1);
            } else if (type == 'C') {
                rows.add(0);
            }
        }

        /** The kinds of statements that gave rows: an idle poll claims nothing, and a loss of its answer is no hit. */
        List<Kind> done() {
            List<Kind> done = new ArrayList<>();
            for (int i = 0; i < Math.min(statements.size(), rows.size()); i++) {
                for (Kind kind : Kind.values()) {
                    if (rows.get(i) > 0 && kind.isOf(statements.get(i))) {
                        done.add(kind);
                    }
                }
            }
            return done;
        }
    }

    /** One connection. */
    private final class Link {
        private final Socket client;
        private final Socket server;
        private final Map<String, String> prepared = new HashMap<>();
        private final Queue<RoundTrip> open = new ArrayDeque<>();
        private final ReentrantLock turn = new ReentrantLock();
        private volatile CountDownLatch passing = new CountDownLatch(0);
        private volatile boolean listens;
        private volatile String process = "";
        private volatile int backend;

        Link(Socket client, Socket server) {
            this.client = client;
            this.server = server;
        }

        void run() {
            links.add(this);
            Thread.ofVirtual().start(this::forward);
            Thread.ofVirtual().start(this::backward);
        }

        private void forward() {
            try (client;
                    server) {
                DataInputStream in = new DataInputStream(new BufferedInputStream(client.getInputStream()));
                DataOutputStream out = new DataOutputStream(server.getOutputStream());
                int length = in.readInt();
                byte[] startup = in.readNBytes(length - Integer.BYTES);
                process = parameter(startup, "application_name");
                out.write(message(length, startup));
                RoundTrip trip = new RoundTrip();
                while (true) {
                    byte type = in.readByte();
                    int size = in.readInt();
                    byte[] body = in.readNBytes(size - Integer.BYTES);
                    note(type, body, trip);
                    if (type == 'S' || type == 'Q') {
                        add(trip);
                        trip = new RoundTrip();
                    }
                    passing.await();
                    if (type == 'B' && Kind.RENEW.isOf(trip.statements.getLast())) {
                        heldRenewals.getOrDefault(process, PASSING).await();
                    }
                    out.write(type);
                    out.write(message(size, body));
                    if (type == 'X') {
                        return;
                    }
                }
            } catch (EOFException e) {
                hungUp.incrementAndGet();
            } catch (IOException | InterruptedException e) {
                // The server or this proxy closed it. Nobody interrupts.
            } finally {
                links.remove(this);
            }
        }

        private void note(byte type, byte[] body, RoundTrip trip) {
            switch (type) {
                case 'P' -> {
                    String statement = text(body, text(body, 0).length() + 1);
                    prepared.put(text(body, 0), statement);
                    if (statement.startsWith("LISTEN ")) {
                        listens = true;
                    }
                }
                case 'B' ->
                    trip.statements.add(prepared.getOrDefault(
                            text(body, text(body, 0).length() + 1), ""));
                default -> {}
            }
        }

        private void backward() {
            try (server;
                    client) {
                DataInputStream in = new DataInputStream(new BufferedInputStream(server.getInputStream()));
                DataOutputStream out = new DataOutputStream(client.getOutputStream());
                while (true) {
                    int type = in.read();
                    if (type < 0) {
                        passing.await(); // the client of a held connection does not learn that the server has closed it
                        return;
                    }
                    int size = in.readInt();
                    byte[] body = in.readNBytes(size - Integer.BYTES);
                    passing.await();
                    if (type == 'K') {
                        backend = ByteBuffer.wrap(body).getInt();
                    }
                    if (type == 'A' && silent) {
                        silenced.incrementAndGet();
                        continue;
                    }
                    RoundTrip trip = current();
                    if (trip == null) {
                        out.write(type);
                        out.write(message(size, body));
                        continue;
                    }
                    trip.answer(type, message(size, body));
                    if (type == 'Z') {
                        remove();
                        if (lose(trip)) {
                            return;
                        }
                        trip.answer.writeTo(out);
                    }
                }
            } catch (IOException | InterruptedException e) {
                // One of them hung up. Nobody interrupts.
            }
        }

        private void add(RoundTrip trip) {
            turn.lock();
            try {
                open.add(trip);
            } finally {
                turn.unlock();
            }
        }

        private @Nullable RoundTrip current() {
            turn.lock();
            try {
                return open.peek();
            } finally {
                turn.unlock();
            }
        }

        private void remove() {
            turn.lock();
            try {
                open.remove();
            } finally {
                turn.unlock();
            }
        }
    }

    private static byte[] message(int size, byte[] body) {
        return ByteBuffer.allocate(Integer.BYTES + body.length)
                .putInt(size)
                .put(body)
                .array();
    }

    /** A parameter of the first message of a connection: after the version come names and values in turn. */
    private static String parameter(byte[] startup, String wanted) {
        int at = Integer.BYTES;
        while (at < startup.length && startup[at] != 0) {
            String name = text(startup, at);
            String value = text(startup, at + name.length() + 1);
            if (name.equals(wanted)) {
                return value;
            }
            at += name.length() + value.length() + 2;
        }
        return "";
    }

    /** The zero-terminated text that begins there. */
    private static String text(byte[] body, int from) {
        int end = from;
        while (body[end] != 0) {
            end++;
        }
        return new String(body, from, end - from, StandardCharsets.US_ASCII);
    }
}
