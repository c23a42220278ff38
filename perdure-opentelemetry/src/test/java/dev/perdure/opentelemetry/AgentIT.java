package dev.perdure.opentelemetry;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** An application under the real agent: what the agent traces and what runs do is one trace. */
@Tag("thorough") // starts another process, in which the agent changes classes for some seconds
class AgentIT {
    /** A span as the agent exports it. */
    private record Exported(String trace, String id, String parent, String name, int kind, List<String> links) {
        static Exported of(JsonNode span) {
            return new Exported(
                    span.path("traceId").asString(),
                    span.path("spanId").asString(),
                    span.path("parentSpanId").asString(""),
                    span.path("name").asString(),
                    span.path("kind").asInt(),
                    span.path("links").values().stream()
                            .map(link -> link.path("spanId").asString())
                            .toList());
        }
    }

    /** The agent is a dependency of the tests, in the profile in which this test runs. */
    private static String agent() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(path -> Path.of(path).getFileName().toString().startsWith("opentelemetry-javaagent-"))
                .findFirst()
                .orElseThrow(() -> new AssertionError("The agent is not on the class path. Run with -Pthorough."));
    }

    private static List<Exported> run() throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-javaagent:" + agent(),
                        "-Dotel.traces.exporter=experimental-otlp/stdout",
                        "-Dotel.metrics.exporter=none",
                        "-Dotel.logs.exporter=none",
                        "-cp",
                        System.getProperty("java.class.path"),
                        AgentProcess.class.getName())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try (Stream<String> lines = process.inputReader(StandardCharsets.UTF_8).lines()) {
            List<Exported> spans = new ArrayList<>();
            JsonMapper json = new JsonMapper();
            lines.filter(line -> line.startsWith("{\"resourceSpans\""))
                    .flatMap(line -> json.readTree(line).findValues("spans").stream())
                    .forEach(list -> list.forEach(span -> spans.add(Exported.of(span))));
            assertThat(process.waitFor()).isZero();
            return spans;
        } finally {
            process.destroyForcibly();
        }
    }

    private static Exported only(List<Exported> spans, String name) {
        List<Exported> found =
                spans.stream().filter(span -> span.name().equals(name)).toList();
        assertThat(found).as("%s among %s", name, spans).hasSize(1);
        return found.getFirst();
    }

    @Test
    void what_the_agent_traces_and_what_runs_do_is_one_trace() throws Exception {
        List<Exported> spans = run();
        Exported request = only(spans, "request");
        Exported start = only(spans, "start order");
        Exported call = only(spans, "step call");
        assertThat(start.parent()).isEqualTo(request.id());
        assertThat(call.parent()).as("after a wait").isEqualTo(start.id());
        assertThat(only(spans, "on another thread").parent())
                .as("the agent takes the context to the executor of the body")
                .isEqualTo(only(spans, "step fork").id());

        Exported sentByClient = only(spans, "GET");
        assertThat(sentByClient.parent())
                .as("the agent makes a span of the HTTP call in the step")
                .isEqualTo(call.id());
        Exported served = only(spans, "GET /pay");
        assertThat(served.parent()).isEqualTo(sentByClient.id());
        Exported started = only(spans, "start started");
        assertThat(started.parent())
                .as("a start takes its context from the span of the agent")
                .isEqualTo(served.id());
        assertThat(List.of(start, call, sentByClient, served, started))
                .extracting(Exported::trace)
                .containsOnly(request.trace());

        Exported sent = spans.stream()
                .filter(span -> span.name().equals("send paid") && span.parent().equals(served.id()))
                .findFirst()
                .orElseThrow();
        Exported waits = only(spans, "start waits");
        assertThat(spans)
                .filteredOn(span ->
                        span.name().equals("receive paid") && span.parent().equals(waits.id()))
                .extracting(Exported::links)
                .containsExactly(List.of(sent.id()));
    }
}
