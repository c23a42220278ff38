package dev.perdure.examples.shop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Perdure;
import dev.perdure.RunId;
import dev.perdure.TypeRef;
import dev.perdure.embedded.SharedPostgres;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** The shop as it runs in production: over a socket, on virtual threads, with its own worker. */
class RunningShopTest {
    private final HttpClient http = HttpClient.newHttpClient();

    private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return http.send(request.header("Content-Type", "application/json").build(), BodyHandlers.ofString());
    }

    @Test
    void an_order_is_shipped() throws Exception {
        try (SharedPostgres.Fresh database = SharedPostgres.database("shop");
                ConfigurableApplicationContext context = new SpringApplicationBuilder(
                                ShopApplication.class, Partners.class)
                        .properties("server.port=0", "spring.main.banner-mode=off")
                        .run(
                                "--spring.datasource.url=" + database.jdbcUrl(),
                                "--spring.datasource.username=" + database.user(),
                                "--spring.datasource.password=" + database.password())) {
            String shop = "http://localhost:" + context.getEnvironment().getProperty("local.server.port");
            String order = "{\"number\": \"7\", \"item\": \"book\", \"quantity\": 2}";
            assertThat(send(HttpRequest.newBuilder(URI.create(shop + "/orders")).POST(BodyPublishers.ofString(order)))
                            .statusCode())
                    .isEqualTo(202);
            String token = context.getBean(Partners.class).asked.poll(30, TimeUnit.SECONDS);
            String payment = "{\"id\": \"P-7\", \"cents\": 1000}";
            assertThat(send(HttpRequest.newBuilder(URI.create(shop + "/payments/" + token))
                                    .POST(BodyPublishers.ofString(payment)))
                            .statusCode())
                    .isEqualTo(204);
            assertThat(context.getBean(Perdure.class)
                            .run(RunId.of("order-7"), TypeRef.of(String.class))
                            .result(Duration.ofSeconds(30)))
                    .isEqualTo("TRACK-7");
            assertThat(send(HttpRequest.newBuilder(URI.create(shop + "/orders/7")))
                            .body())
                    .contains("SHIPPED", "TRACK-7");
            assertThat(send(HttpRequest.newBuilder(URI.create(shop + "/actuator/health/readiness")))
                            .body())
                    .contains("UP");
            assertThat(send(HttpRequest.newBuilder(URI.create(shop + "/actuator/perdure")))
                            .body())
                    .contains("\"worker\":true");
            assertThat(send(HttpRequest.newBuilder(URI.create(shop + "/perdure/")))
                            .body())
                    .contains("<title>Perdure");
            assertThat(send(HttpRequest.newBuilder(URI.create(shop + "/perdure/api/v1/runs/order-7")))
                            .body())
                    .contains("\"state\":\"COMPLETED\"");
        }
    }
}
