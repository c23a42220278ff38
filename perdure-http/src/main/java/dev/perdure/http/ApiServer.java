package dev.perdure.http;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.http.exchange.ApiRequest;
import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.spi.report.EngineLog;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;

/**
 * Serves an {@link HttpApi} with the HTTP server of the JDK, each request on a virtual thread. It listens on the
 * loopback address unless it is told otherwise, and refuses to listen elsewhere without authentication. It speaks HTTP
 * without TLS: put a proxy before it that speaks TLS.
 *
 * <pre>{@code
 * try (ApiServer server = ApiServer.of(api).port(8080).start()) { … }
 * }</pre>
 */
public final class ApiServer implements AutoCloseable {
    private static final Logger LOG = EngineLog.of("dev.perdure.http");
    private static final Duration DRAIN = Duration.ofSeconds(1);
    private static final int BACKLOG = 128;
    private static final int NO_BODY = -1;
    private static final int UNKNOWN_LENGTH = 0;

    private final HttpApi api;
    private final HttpServer server;
    private final Duration ioTimeout;
    private final Duration closeTimeout;
    private final ScheduledThreadPoolExecutor timer;
    private final Map<Thread, IoDeadline> deadlines = new ConcurrentHashMap<>();
    private final Set<Thread> answering = ConcurrentHashMap.newKeySet();
    private final Semaphore room;
    private final AtomicBoolean closed = new AtomicBoolean();

    private ApiServer(Builder settings) {
        this.api = settings.api;
        this.ioTimeout = settings.ioTimeout;
        this.closeTimeout = settings.closeTimeout;
        this.room = new Semaphore(settings.requests);
        this.timer = new ScheduledThreadPoolExecutor(
                1,
                task -> Thread.ofPlatform().name("perdure-http-timer").daemon().unstarted(task));
        timer.setRemoveOnCancelPolicy(true);
        InetSocketAddress address = new InetSocketAddress(settings.address, settings.port);
        try {
            this.server = HttpServer.create(address, BACKLOG);
        } catch (IOException taken) {
            timer.shutdownNow();
            throw new UncheckedIOException(
                    "The HTTP API cannot listen on %s. Choose another port, or stop what listens there."
                            .formatted(address),
                    taken);
        }
        server.createContext("/", this::answer);
        server.setExecutor(this::execute);
    }

    /** Begins to set up a server for this API. */
    public static Builder of(HttpApi api) {
        return new Builder(api);
    }

    /** Sets up a server. */
    public static final class Builder {
        private static final int MAX_PORT = 65_535;

        private final HttpApi api;
        private InetAddress address = InetAddress.getLoopbackAddress();
        private int port;
        private Duration ioTimeout = Duration.ofSeconds(30);
        private Duration closeTimeout = Duration.ofSeconds(10);
        private int requests = 2_000;

        private Builder(HttpApi api) {
            this.api = api;
        }

        /** The port. Without it, or with 0, the system chooses a free one: {@link ApiServer#port()}. */
        public Builder port(int number) {
            require(number >= 0 && number <= MAX_PORT, "the port is " + number + "; it is 0 to " + MAX_PORT);
            port = number;
            return this;
        }

        /** The address to listen on, in place of the loopback address. The API needs authentication then. */
        public Builder address(InetAddress where) {
            address = where;
            return this;
        }

        /** How long a client may take to send a request, and to take each part of the response. 30 seconds by default. */
        public Builder ioTimeout(Duration limit) {
            require(!limit.isNegative() && !limit.isZero(), "ioTimeout is " + limit + "; it is longer than zero");
            ioTimeout = limit;
            return this;
        }

        /** How long {@link ApiServer#close()} waits for requests that are under way. Ten seconds by default. */
        public Builder closeTimeout(Duration limit) {
            require(!limit.isNegative(), "closeTimeout is " + limit + "; it cannot be negative");
            closeTimeout = limit;
            return this;
        }

        /**
         * How many requests are under way at once, from their first byte until the client has taken the answer. The
         * connection of one more is closed. 2,000 by default: more than wait for runs, so that others get through.
         */
        public Builder requests(int most) {
            require(most >= 1, "requests is " + most + "; it is at least 1");
            requests = most;
            return this;
        }

        private static void require(boolean holds, String reason) {
            if (!holds) {
                throw new InvalidRequestException("Cannot set up the server of the HTTP API: " + reason + ".");
            }
        }

        /**
         * Begins to listen.
         *
         * @throws InvalidRequestException if the address is not the loopback address and the API has no authentication
         */
        public ApiServer start() {
            require(
                    address.isLoopbackAddress() || api.hasAuthentication(),
                    "it would listen on %s, where others can reach it, without authentication; set up tokens with authentication(…), or listen on the loopback address"
                            .formatted(address.getHostAddress()));
            ApiServer started = new ApiServer(this);
            started.server.start();
            LOG.info("The HTTP API listens on {}.", started.uri());
            return started;
        }
    }

    /** The port on which it listens. */
    public int port() {
        return server.getAddress().getPort();
    }

    /** Where the API is. */
    public URI uri() {
        InetAddress address = server.getAddress().getAddress();
        String host = address.getHostAddress();
        return URI.create(
                "http://%s:%s%s".formatted(host.indexOf(':') < 0 ? host : "[" + host + "]", port(), api.prefix()));
    }

    // ---- one request, from its first byte to its last

    private void execute(Runnable exchange) {
        if (!room.tryAcquire()) {
            throw new RejectedExecutionException("Too many requests at once."); // the server closes the connection
        }
        Thread.ofVirtual().name("perdure-http").start(() -> {
            IoDeadline deadline = new IoDeadline(Thread.currentThread(), timer);
            deadlines.put(Thread.currentThread(), deadline);
            deadline.begin(ioTimeout); // for the headers; answer(…) ends it
            try {
                exchange.run();
            } finally {
                deadline.end();
                deadlines.remove(Thread.currentThread());
                room.release();
            }
        });
    }

    private void answer(HttpExchange exchange) throws IOException {
        IoDeadline deadline = deadlines.get(Thread.currentThread());
        if (deadline == null) {
            throw new IllegalStateException("A request outside of the executor of this server.");
        }
        deadline.end();
        answering.add(Thread.currentThread());
        try {
            long ends = System.nanoTime() + ioTimeout.toNanos();
            send(
                    exchange,
                    api.handle(request(exchange, new BoundedBody(exchange.getRequestBody(), deadline, ends))),
                    deadline);
        } finally {
            answering.remove(Thread.currentThread());
            deadline.begin(DRAIN); // closing reads what the client still sends, up to a limit
            exchange.close();
        }
    }

    private static ApiRequest request(HttpExchange exchange, InputStream body) {
        URI uri = exchange.getRequestURI();
        String path = uri.getRawPath() == null ? "" : uri.getRawPath();
        return new ApiRequest(
                exchange.getRequestMethod(),
                uri.getRawQuery() == null ? path : path + "?" + uri.getRawQuery(),
                exchange.getRequestHeaders(),
                exchange.getRemoteAddress().getAddress().getHostAddress(),
                body);
    }

    /** The body of a request, which has to arrive before a time, however it is spread. */
    private static final class BoundedBody extends FilterInputStream {
        private final IoDeadline deadline;
        private final long ends;

        BoundedBody(InputStream body, IoDeadline deadline, long ends) {
            super(body);
            this.deadline = deadline;
            this.ends = ends;
        }

        @Override
        public int read() throws IOException {
            return deadline.within(left(), super::read);
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            return deadline.within(left(), () -> super.read(bytes, offset, length));
        }

        private Duration left() throws IOException {
            long nanos = ends - System.nanoTime();
            if (nanos <= 0) {
                throw new IOException("The body took too long.");
            }
            return Duration.ofNanos(nanos);
        }
    }

    private void send(HttpExchange exchange, ApiResponse response, IoDeadline deadline) throws IOException {
        response.headers().forEach(exchange.getResponseHeaders()::set);
        switch (response.content()) {
            case ApiResponse.Bytes whole ->
                deadline.within(ioTimeout, () -> {
                    byte[] bytes = whole.bytes();
                    exchange.sendResponseHeaders(response.status(), bytes.length == 0 ? NO_BODY : bytes.length);
                    if (bytes.length > 0) {
                        exchange.getResponseBody().write(bytes);
                    }
                    return bytes;
                });
            case ApiResponse.Stream stream -> {
                deadline.within(ioTimeout, () -> {
                    exchange.sendResponseHeaders(response.status(), UNKNOWN_LENGTH);
                    exchange.getResponseBody().flush();
                    return response;
                });
                OutputStream out = exchange.getResponseBody();
                try {
                    stream.source()
                            .writeTo(part -> deadline.within(ioTimeout, () -> {
                                out.write(part);
                                out.flush();
                                return part;
                            }));
                } catch (InterruptedException closing) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }

    // ---- the end

    /**
     * Stops. It takes no more requests, lets those under way end for the time that was set, and then cuts their
     * connections. The engine stays open. Closing it again has no effect.
     */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        api.close();
        try {
            join(answering, closeTimeout);
            stop();
            join(deadlines.keySet(), DRAIN);
        } catch (InterruptedException hurry) {
            stop();
            Thread.currentThread().interrupt();
        }
    }

    private void stop() {
        server.stop(0);
        timer.shutdownNow();
        deadlines.values().forEach(IoDeadline::interrupt);
    }

    private static void join(Set<Thread> threads, Duration limit) throws InterruptedException {
        long ends = System.nanoTime() + limit.toNanos();
        for (Thread thread : threads) {
            long left = ends - System.nanoTime();
            if (left > 0) {
                thread.join(Duration.ofNanos(left));
            }
        }
    }
}
