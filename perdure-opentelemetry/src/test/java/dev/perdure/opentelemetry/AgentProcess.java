package dev.perdure.opentelemetry;

import com.sun.net.httpserver.HttpServer;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.memory.MemoryStore;
import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Scope;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * An application under the agent of OpenTelemetry, without an SDK of its own. A run waits for a message, calls a service
 * over HTTP in a step and works on another thread. The service starts a run and sends the message to a third one.
 */
final class AgentProcess {
    private static final Topic<String> PAID = Topic.of("paid", String.class);

    private static final Definition<String, String> WAITS = Definition.of(
            "waits", String.class, String.class, (ctx, in) -> ctx.receive(PAID).await());
    private static final Definition<String, String> STARTED =
            Definition.of("started", String.class, String.class, (ctx, in) -> in);

    private AgentProcess() {}

    private static Definition<String, String> order(HttpClient client, ExecutorService threads, URI service) {
        return Definition.of("order", String.class, String.class, (ctx, in) -> {
            ctx.receive(PAID).await();
            ctx.step(
                    "call",
                    () -> client.send(HttpRequest.newBuilder(service).build(), HttpResponse.BodyHandlers.ofString())
                            .body());
            return ctx.step(
                    "fork",
                    () -> threads.submit(() -> {
                                Span span = GlobalOpenTelemetry.getTracer("test")
                                        .spanBuilder("on another thread")
                                        .startSpan();
                                span.end();
                                return span.getSpanContext().getTraceId();
                            })
                            .get());
        });
    }

    @SuppressWarnings("try") // a scope is only opened and closed
    public static void main(String[] args) throws Exception {
        HttpServer service = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        URI address = URI.create("http://localhost:" + service.getAddress().getPort() + "/pay");
        HttpClient client = HttpClient.newHttpClient();
        ExecutorService threads = Executors.newFixedThreadPool(1);
        Definition<String, String> order = order(client, threads, address);
        try (Tracing tracing = Tracing.of(GlobalOpenTelemetry.get());
                Perdure perdure = tracing.start(Perdure.on(new MemoryStore())
                        .register(order, WAITS, STARTED)
                        .warmWindow(Duration.ofMillis(1)))) {
            Run<String> waits = perdure.start(Invocation.of(WAITS, "x"), StartOptions.id("w-1"));
            service.createContext("/pay", exchange -> {
                perdure.start(Invocation.of(STARTED, "x"));
                waits.send(PAID, "yes");
                exchange.sendResponseHeaders(204, -1);
                exchange.close();
            });
            service.start();
            Span request =
                    GlobalOpenTelemetry.getTracer("test").spanBuilder("request").startSpan();
            Run<String> run;
            try (Scope scope = request.makeCurrent()) {
                run = perdure.start(Invocation.of(order, "x"), StartOptions.id("o-1"));
            }
            request.end();
            while (run.state() != RunState.SUSPENDED) {
                LockSupport.parkNanos(1_000_000);
            }
            run.send(PAID, "yes");
            run.result();
            waits.result();
        } finally {
            service.stop(0);
            threads.shutdown();
            threads.awaitTermination(10, TimeUnit.SECONDS);
        }
    }
}
