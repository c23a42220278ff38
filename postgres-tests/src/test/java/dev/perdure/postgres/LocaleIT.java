package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.StartOptions;
import dev.perdure.attribute.Attribute;
import dev.perdure.queue.Queue;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.Times;
import java.time.Duration;
import java.time.ZoneId;
import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Locales of the JVM with digits of their own, and the one whose capital i has a dot: nothing changes. */
final class LocaleIT {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Locale before = Locale.getDefault();

    @AfterEach
    void restore() {
        Locale.setDefault(before);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ar-EG", "tr-TR"})
    void a_store_opens_and_runs_end(String locale) {
        openAndRun(locale);
    }

    @ParameterizedTest
    @ValueSource(strings = {"fa-IR", "bn-BD"})
    @Tag("thorough")
    void a_store_opens_and_runs_end_in_other_locales_with_digits_of_their_own(String locale) {
        openAndRun(locale);
    }

    private static void openAndRun(String locale) {
        Locale.setDefault(Locale.forLanguageTag(locale));
        Attribute<Number> size = Attribute.number("size");
        Definition<String, String> child = Definition.of(
                "info", String.class, String.class, (ctx, in) -> ctx.step("large", () -> in.repeat(2_000_000)));
        Definition<String, Integer> flow = Definition.of(
                "INVITE",
                String.class,
                Integer.class,
                (ctx, in) -> ctx.call(Invocation.of(child, in)).length());
        String schema = TestServer.newSchema();
        try (PostgresStore store =
                        PostgresStore.on(TestServer.plain()).schema(schema).open();
                Perdure perdure = Perdure.on(store)
                        .register(flow, child)
                        .queues(
                                Queue.named("default"),
                                Queue.named("mails").concurrency(3).rate(1_000, Duration.ofSeconds(1)))
                        .label("disk", "fast")
                        .start()) {
            StartOptions options = StartOptions.id("r-1")
                    .queue("mails")
                    .key("K")
                    .prefers("disk=fast")
                    .attribute(size, 4_711);
            Run<Integer> run = perdure.start(Invocation.of(flow, "i"), options);
            assertThat(run.result(PATIENCE)).isEqualTo(2_000_000);
            assertThat(perdure.runs(RunFilter.all().where(size.is(4_711))).list())
                    .hasSize(1);
            perdure.schedules()
                    .put(Schedule.of(
                            "fridays", Times.cron("0 9 * JUN fri", ZoneId.of("UTC")), Invocation.of(flow, "i")));
            await().atMost(PATIENCE)
                    .until(() -> perdure.schedules().list("", 10).stream()
                            .anyMatch(schedule -> !schedule.next().isEmpty()));
        }
    }
}
