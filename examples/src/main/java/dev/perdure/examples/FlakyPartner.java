package dev.perdure.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A partner's server, on the loopback interface and a free port. It accepts an invoice once per idempotency key. For
 * the first requests it answers with an error although it has accepted the invoice: without the key, a retry would
 * deliver the invoice twice.
 */
final class FlakyPartner implements AutoCloseable {
    private final HttpServer server;
    private final int status;
    private final int failures;
    private final Duration retryAfter;
    private final List<String> keys = new CopyOnWriteArrayList<>();
    private final Map<String, String> invoices = new ConcurrentHashMap<>();

    private FlakyPartner(int status, int failures, Duration retryAfter) throws IOException {
        this.status = status;
        this.failures = failures;
        this.retryAfter = retryAfter;
        this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/invoices", this::take);
        server.start();
    }

    /** A server that answers the first requests with 503 and a Retry-After header. */
    static FlakyPartner failing(int times, Duration retryAfter) throws IOException {
        return new FlakyPartner(503, times, retryAfter);
    }

    /** A server that refuses every request. */
    static FlakyPartner refusing() throws IOException {
        return new FlakyPartner(422, Integer.MAX_VALUE, Duration.ZERO);
    }

    private void take(HttpExchange exchange) throws IOException {
        try (exchange) {
            String key = exchange.getRequestHeaders().getFirst("Idempotency-Key");
            String invoice = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
            keys.add(key);
            invoices.putIfAbsent(key, invoice);
            boolean fails = keys.size() <= failures;
            byte[] answer = (fails ? "Out of order" : "Taken: " + invoices.get(key)).getBytes(UTF_8);
            exchange.getResponseHeaders().set("Retry-After", String.valueOf(retryAfter.toSeconds()));
            exchange.sendResponseHeaders(fails ? status : 200, answer.length);
            exchange.getResponseBody().write(answer);
        }
    }

    URI address() {
        return URI.create("http://localhost:" + server.getAddress().getPort() + "/invoices");
    }

    /** The key of every request, in order. */
    List<String> keys() {
        return keys;
    }

    /** The accepted invoices, by key. */
    Map<String, String> invoices() {
        return invoices;
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
