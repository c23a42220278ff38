package dev.perdure.opentelemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.TypeRef;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.opentelemetry.KilledProcess.Place;
import dev.perdure.opentelemetry.SpanLines.Line;
import dev.perdure.postgres.PostgresStore;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A run that begins in one process, which is killed, and ends in another. */
@Tag("thorough") // starts a server and another process for one test
class KilledProcessIT {
    private static Process start(Place place, SharedPostgres.Fresh database) throws Exception {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        KilledProcess.class.getName(),
                        place.name(),
                        database.jdbcUrl(),
                        database.user(),
                        database.password())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    @ParameterizedTest
    @EnumSource
    void a_trace_goes_on_in_another_process_and_has_no_span_twice(Place place) throws Exception {
        InMemorySpanExporter exporter = InMemorySpanExporter.create();
        try (SharedPostgres.Fresh database = SharedPostgres.database("tracing");
                PostgresStore store = PostgresStore.on(database.dataSource())
                        .notifications(false)
                        .open();
                OpenTelemetrySdk telemetry = KilledProcess.telemetry(exporter)) {
            List<Line> before = new ArrayList<>();
            Process first = start(place, database);
            try (Perdure client = Perdure.on(store).client();
                    BufferedReader printed = first.inputReader(StandardCharsets.UTF_8)) {
                while (before.size() < 3) {
                    before.add(Line.parse(Objects.requireNonNull(printed.readLine(), "the process has ended")));
                }
                Run<String> order = client.run(RunId.of(KilledProcess.ORDER), TypeRef.of(String.class));
                await().atMost(Duration.ofSeconds(30)).until(() -> isAt(place, order));
                first.toHandle().destroyForcibly(); // SIGKILL
                first.waitFor();
                assertThat(printed.lines()).isEmpty();
                if (place == Place.WAIT) {
                    order.send(KilledProcess.PAID, "yes"); // by a client without traces
                }
            } finally {
                first.destroyForcibly();
            }
            assertThat(before)
                    .extracting(Line::name)
                    .containsExactlyInAnyOrder("request", "start order", "step charge");

            try (Tracing tracing = Tracing.of(telemetry);
                    Perdure perdure = tracing.start(Perdure.on(store).register(KilledProcess.FLOW))) {
                Run<String> order = perdure.run(RunId.of(KilledProcess.ORDER), TypeRef.of(String.class));
                assertThat(order.result(Duration.ofSeconds(60)))
                        .as("the baggage")
                        .isEqualTo("acme");
                await().atMost(Duration.ofSeconds(10))
                        .until(() -> exporter.getFinishedSpanItems().size() >= (place == Place.WAIT ? 3 : 2));
            }
            List<Line> after =
                    exporter.getFinishedSpanItems().stream().map(Line::of).toList();
            assertThat(after)
                    .as("charge was replayed")
                    .extracting(Line::name)
                    .containsExactlyInAnyOrderElementsOf(
                            place == Place.WAIT
                                    ? List.of("step ship", "run order", "receive paid")
                                    : List.of("step ship", "run order"));

            Line request = named(before, "request");
            Line begun = named(before, "start order");
            assertThat(begun.parent()).isEqualTo(request.span());
            assertThat(Stream.concat(before.stream(), after.stream()))
                    .extracting(Line::trace)
                    .containsOnly(request.trace());
            assertThat(named(before, "step charge").parent()).isEqualTo(begun.span());
            assertThat(after).extracting(Line::parent).containsOnly(begun.span());
        }
    }

    private static boolean isAt(Place place, Run<String> order) {
        return switch (place) {
            case WAIT -> order.state() == RunState.SUSPENDED;
            // The engine writes nothing when a body begins.
            case BODY -> order.history().stream().anyMatch(event -> event.name().equals("charge"));
        };
    }

    private static Line named(List<Line> lines, String name) {
        return lines.stream()
                .filter(line -> line.name().equals(name))
                .findFirst()
                .orElseThrow();
    }
}
