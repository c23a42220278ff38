package dev.perdure.spring.boot.http;

import dev.perdure.Perdure;
import dev.perdure.http.HttpApi;
import dev.perdure.http.exchange.ApiRequest;
import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.http.security.Authentication;
import dev.perdure.spi.report.EngineLog;
import dev.perdure.spring.boot.internal.RunningEngine;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.context.ApplicationContext;

/**
 * The HTTP API in the web server of the application, from the start of the engine until the stop of the application. It
 * refuses to open without authentication, unless only this machine reaches the server. Thread-safe.
 */
final class MountedApi {
    /** Answers a request for which there is no room. */
    static final ApiResponse FULL =
            problem(503, "TooManyRequests", "Too many requests are under way at once. Send the request again.");

    private static final ApiResponse NOT_OPEN =
            problem(503, "NotRunning", "The engine of this process does not run. Send the request again.");
    private static final ApiResponse FAILED = problem(
            500, "InternalError", "Something went wrong inside Perdure. The log of the process has the details.");
    private static final Logger LOG = EngineLog.of("dev.perdure.http");

    private final Setup setup;
    private final Semaphore room;
    private final Set<Thread> answering = ConcurrentHashMap.newKeySet();
    private volatile @Nullable HttpApi api;

    /**
     * What the API is set up with.
     *
     * @param engine the engine; asked for when the API opens, because the web server needs the servlet before
     * @param properties the properties
     * @param authentication tells who sends a request, if the properties or Spring Security do
     * @param pages makes the pages beside it, if there are any
     * @param customizers what the application adds
     */
    record Setup(
            ObjectProvider<RunningEngine> engine,
            HttpProperties properties,
            Optional<Authentication> authentication,
            ObjectProvider<PagesFactory> pages,
            ObjectProvider<HttpApiCustomizer> customizers) {}

    MountedApi(Setup setup) {
        this.setup = setup;
        this.room = new Semaphore(setup.properties().requests());
    }

    /** As the API writes a problem, for what it cannot answer itself. */
    private static ApiResponse problem(int status, String name, String detail) {
        String json = """
                {"type":"urn:perdure:problem:%s","title":"%1$s","status":%s,"detail":"%s"}""".formatted(name, status, detail);
        return new ApiResponse(
                status,
                Map.of("Content-Type", "application/problem+json", "Cache-Control", "no-store"),
                new ApiResponse.Bytes(json.getBytes(StandardCharsets.UTF_8)));
    }

    /**
     * Builds the API. The engine runs, and the server takes no requests yet.
     *
     * @param contextPath the path of the application in its server
     */
    void open(String contextPath, ApplicationContext application) {
        Perdure perdure = setup.engine().getObject().current();
        String base = contextPath + setup.properties().path();
        String prefix = base + HttpApi.DEFAULT_PREFIX;
        HttpApi.Builder builder = HttpApi.on(perdure).prefix(prefix);
        setup.properties().applyTo(builder);
        setup.authentication().ifPresent(builder::authentication);
        setup.pages().ifAvailable(pages -> pages.addTo(builder, perdure, base + "/", prefix));
        setup.customizers().orderedStream().forEach(customizer -> customizer.customize(builder));
        HttpApi built = builder.build();
        if (!built.hasAuthentication() && !isOnLoopback(application)) {
            throw new InvalidConfigurationPropertyValueException(
                    HttpProperties.PREFIX + ".enabled",
                    true,
                    "The HTTP API has no authentication, and others than the users of this machine reach the server. Name tokens in perdure.http.tokens, add Spring Security, give an Authentication with an HttpApiCustomizer, or listen on the loopback address with server.address=127.0.0.1.");
        }
        api = built;
    }

    /** In a server outside of the application, the property has no effect. */
    private static boolean isOnLoopback(ApplicationContext application) {
        String address = application.getEnvironment().getProperty("server.address");
        try {
            return address != null
                    && hasServer(application)
                    && InetAddress.getByName(address).isLoopbackAddress();
        } catch (UnknownHostException unknown) {
            return false;
        }
    }

    /** By the name of the property: the type that has it is in another package in Spring Boot 3 than in 4. */
    private static boolean hasServer(ApplicationContext application) {
        BeanWrapper properties = PropertyAccessorFactory.forBeanPropertyAccess(application);
        return properties.isReadableProperty("webServer") && properties.getPropertyValue("webServer") != null;
    }

    /** Whether there is room for one more request, which then ends with {@link #leave}. */
    boolean enter() {
        return room.tryAcquire();
    }

    void leave() {
        room.release();
    }

    /** Answers a request. It throws nothing, because no container ends the request for a thread that fails. */
    ApiResponse handle(ApiRequest request) {
        HttpApi opened = api;
        if (opened == null) {
            return NOT_OPEN;
        }
        try {
            return opened.handle(request);
        } catch (RuntimeException | Error failed) {
            LOG.error("The HTTP API could not answer {}.", request, failed);
            return FAILED;
        }
    }

    /** Runs a part of the answer to a request on a virtual thread, so that a slow client or run holds no thread of the server. */
    void start(Runnable part) {
        Thread.ofVirtual().name("perdure-http").start(() -> {
            answering.add(Thread.currentThread());
            try {
                part.run();
            } finally {
                answering.remove(Thread.currentThread());
            }
        });
    }

    /** Refuses further requests, ends streams and waits for runs, and lets the requests under way be answered for a while. */
    void close() {
        HttpApi opened = api;
        if (opened == null) {
            return;
        }
        opened.close();
        long ends = System.nanoTime() + setup.properties().closeTimeout().toNanos();
        try {
            for (Thread thread : answering) {
                Duration left = Duration.ofNanos(Math.max(1, ends - System.nanoTime()));
                thread.join(left);
            }
        } catch (InterruptedException hurry) {
            Thread.currentThread().interrupt();
        }
    }
}
