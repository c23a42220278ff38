package dev.perdure.compatibility;

import dev.perdure.http.security.Authentication;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Store;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** A web application with the HTTP API and the dashboard, in a Tomcat on a free port of the loopback address. */
final class WebShop implements AutoCloseable {
    /** A user of Spring Security without a login page is a password in a header. */
    record Caller(String authorization) {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Orders.class)
    static class Application {
        @Bean
        Store store() {
            return new MemoryStore();
        }
    }

    /** The names in Boot 3 and in Boot 4. */
    private static final List<String> WITHOUT_DATABASE = List.of(
            "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration");

    private static final List<String> WITHOUT_SECURITY = List.of(
            "org.springframework.boot.autoconfigure.security.servlet.SecurityAutoConfiguration",
            "org.springframework.boot.autoconfigure.security.servlet.SecurityFilterAutoConfiguration",
            "org.springframework.boot.autoconfigure.security.servlet.UserDetailsServiceAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.security.servlet.ManagementWebSecurityAutoConfiguration",
            "org.springframework.boot.security.autoconfigure.SecurityAutoConfiguration",
            "org.springframework.boot.security.autoconfigure.UserDetailsServiceAutoConfiguration",
            "org.springframework.boot.security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration",
            "org.springframework.boot.security.autoconfigure.web.servlet.SecurityFilterAutoConfiguration",
            "org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration");

    private final HttpClient client = HttpClient.newHttpClient();
    private final ConfigurableApplicationContext context;
    private final String address;

    private WebShop(List<Class<?>> sources, List<String> without, String... properties) {
        context = new SpringApplicationBuilder(sources.toArray(Class<?>[]::new))
                .properties(
                        "spring.main.banner-mode=off",
                        "server.port=0",
                        "perdure.http.enabled=true",
                        "spring.autoconfigure.exclude=" + String.join(",", without))
                .properties(properties)
                .run();
        address = "http://localhost:" + context.getEnvironment().getProperty("local.server.port");
    }

    static WebShop withoutSecurity(String... properties) {
        List<String> without = new ArrayList<>(WITHOUT_DATABASE);
        without.addAll(WITHOUT_SECURITY);
        return new WebShop(List.of(Application.class), without, properties);
    }

    /** With this configuration, too. */
    static WebShop withoutSecurity(Class<?> more, String... properties) {
        List<String> without = new ArrayList<>(WITHOUT_DATABASE);
        without.addAll(WITHOUT_SECURITY);
        return new WebShop(List.of(Application.class, more), without, properties);
    }

    /** What is switched off where Spring Security and the database are. */
    static String withoutSecurityAndDatabase() {
        return "spring.autoconfigure.exclude=" + String.join(",", WITHOUT_DATABASE) + ","
                + String.join(",", WITHOUT_SECURITY);
    }

    static WebShop with(Class<?> security, String... properties) {
        return new WebShop(List.of(Application.class, security), WITHOUT_DATABASE, properties);
    }

    HttpRequest.Builder request(String path, Caller caller) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(address + path));
        return caller == null ? request : request.header("Authorization", caller.authorization());
    }

    HttpResponse<String> get(String path, Caller caller) throws IOException, InterruptedException {
        return client.send(request(path, caller).build(), BodyHandlers.ofString());
    }

    HttpResponse<String> post(String path, Caller caller, String json) throws IOException, InterruptedException {
        return client.send(
                request(path, caller)
                        .header("Content-Type", "application/json")
                        .header(Authentication.ACTION_HEADER, "true")
                        .POST(BodyPublishers.ofString(json))
                        .build(),
                BodyHandlers.ofString());
    }

    HttpResponse<InputStream> stream(String path, Caller caller) throws IOException, InterruptedException {
        return client.send(request(path, caller).build(), BodyHandlers.ofInputStream());
    }

    <B> B bean(String name, Class<B> type) {
        return context.getBean(name, type);
    }

    HttpClient client() {
        return client;
    }

    @Override
    public void close() {
        context.close();
        client.close();
    }
}
