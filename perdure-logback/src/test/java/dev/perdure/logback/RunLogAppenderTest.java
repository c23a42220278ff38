package dev.perdure.logback;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.memory.MemoryStore;
import dev.perdure.report.LogFilter;
import dev.perdure.report.LogLine;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.event.Level;

class RunLogAppenderTest {
    private static final String CONFIGURATION = """
            <configuration>
              <appender name="RUNS" class="dev.perdure.logback.RunLogAppender">
                <filter class="ch.qos.logback.classic.filter.ThresholdFilter"><level>INFO</level></filter>
              </appender>
              <root level="TRACE"><appender-ref ref="RUNS"/></root>
            </configuration>
            """;

    private final LoggerContext context = new LoggerContext();

    @AfterEach
    void stop() {
        context.stop();
    }

    private Logger logger() throws Exception {
        JoranConfigurator configurator = new JoranConfigurator();
        configurator.setContext(context);
        configurator.doConfigure(new ByteArrayInputStream(CONFIGURATION.getBytes(StandardCharsets.UTF_8)));
        return context.getLogger("shop.Import");
    }

    private static List<LogLine> lines(Run<?> run, int count) {
        List<LogLine> lines = List.of();
        while (lines.size() < count) { // the worker writes them a moment after the step
            lines = run.log(LogFilter.oldest(100)).lines();
        }
        return lines;
    }

    @Test
    void what_a_body_logs_through_slf4j_is_kept_with_its_run() throws Exception {
        Logger log = logger();
        Definition<String, String> flow = Definition.of("import", String.class, String.class, (ctx, in) -> {
            log.info("outside of a step");
            ctx.step("import", () -> {
                log.debug("below the threshold of the appender");
                log.info("page {} of {}", 3, 7);
                log.error("page {} is broken", 4, new IllegalStateException("no such article"));
            });
            return in;
        });
        try (Perdure perdure = Perdure.on(new MemoryStore()).register(flow).start()) {
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            assertThat(run.result(Duration.ofSeconds(20))).isEqualTo("x");

            List<LogLine> lines = lines(run, 2);
            assertThat(lines).extracting(LogLine::level).containsExactly(Level.INFO, Level.ERROR);
            assertThat(lines).extracting(LogLine::logger).containsOnly("shop.Import");
            assertThat(lines.getFirst().text()).isEqualTo("page 3 of 7");
            assertThat(lines.getLast().text())
                    .startsWith("page 4 is broken\njava.lang.IllegalStateException: no such article")
                    .contains("\tat dev.perdure.logback.RunLogAppenderTest");
        }
    }
}
