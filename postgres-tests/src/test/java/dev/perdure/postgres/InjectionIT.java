package dev.perdure.postgres;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.attribute.Attribute;
import dev.perdure.audit.Operator;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.queue.Queue;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Texts that would be SQL if one of them got into a statement. */
final class InjectionIT {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Topic<String> NEWS = Topic.of("news", String.class);

    private static final List<String> TEXTS = List.of(
            "'; DROP TABLE run; --",
            "x' OR '1'='1",
            "\"; SELECT pg_sleep(60); --",
            "\\'; DROP SCHEMA public; --",
            "${schema}",
            "${READY}.${unknown}",
            "? ?? $1 :id",
            "$$; DROP TABLE run; $$",
            "{d '2026-01-01'} {fn now()}",
            "/* x */ -- y",
            "%s %1$s %n",
            "{\"a\": [null], 'b'}",
            "_%\\%",
            "😀 ' \" ` ; ()");

    @Test
    void every_text_is_a_value_and_never_a_part_of_a_statement() {
        String schema = TestServer.newSchema();
        Definition<String, String> waiting = Definition.of("waits", String.class, String.class, (ctx, in) -> {
            ctx.publish(NEWS, in);
            return ctx.receive(Topic.of(in, String.class)).await();
        });
        Queue[] queues =
                TEXTS.stream().map(text -> Queue.named(text).concurrency(5)).toArray(Queue[]::new);
        try (HikariDataSource pool = TestServer.pool(TestServer.plain(), 8);
                PostgresStore store = PostgresStore.on(pool).schema(schema).open();
                Perdure perdure =
                        Perdure.on(store).register(waiting).queues(queues).start()) {
            String tables = "SELECT count(*) FROM pg_class WHERE relnamespace = '%s'::regnamespace".formatted(schema);
            String before = TestServer.query(tables);
            for (String text : TEXTS) {
                assertIsAValue(perdure, waiting, text);
            }
            assertThat(TestServer.query(tables)).isEqualTo(before);
            assertThat(perdure.runs(RunFilter.all().state(RunState.COMPLETED)).list())
                    .hasSize(TEXTS.size());
        }
    }

    private static void assertIsAValue(Perdure perdure, Definition<String, String> waiting, String text) {
        Attribute<String> named = Attribute.text(text);
        Run<String> run = perdure.start(
                Invocation.of(waiting, text),
                id(text).queue(text).key(text).memo(text).attribute(named, text));
        List<RunFilter> filters = List.of(
                RunFilter.all().queue(text),
                RunFilter.all().key(text),
                RunFilter.all().idPrefix(text),
                RunFilter.all().root(RunId.of(text)),
                RunFilter.all().where(named.is(text)));
        for (RunFilter filter : filters) {
            assertThat(perdure.runs(filter).list())
                    .as("%s, %s", text, filter)
                    .extracting(RunInfo::id)
                    .containsExactly(run.id());
        }
        for (RunFilter filter : List.of(
                RunFilter.all().definition(text),
                RunFilter.all().version(text),
                RunFilter.all().parent(RunId.of(text)),
                RunFilter.all().schedule(text))) {
            assertThat(perdure.runs(filter).list()).as("%s, %s", text, filter).isEmpty();
        }
        perdure.as(Operator.named(text)).run(run.id(), TypeRef.of(String.class)).pause(text);
        await().untilAsserted(() -> assertThat(
                        perdure.runs(RunFilter.all().reason(text)).list())
                .as(text)
                .hasSize(1));
        run.resume();
        run.send(Topic.of(text, String.class), text);
        assertThat(run.result(PATIENCE)).isEqualTo(text);
        assertThat(run.info().description().memo()).contains(text);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "a; DROP TABLE x",
                "a.b",
                "\"a\"",
                "A",
                "a-b",
                "1a",
                "pg_a",
                "a b",
                "a\n",
                "ä",
                "${schema}",
                "a_very_long_name_that_has_more_than_forty_eight_characters"
            })
    void a_name_of_a_schema_or_a_role_that_would_need_quoting_is_refused(String name) {
        String message = "The schema name '%s' is not allowed.".formatted(name);
        assertThatThrownBy(() -> PostgresStore.on(TestServer.plain()).schema(name))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageStartingWith(message);
        assertThatThrownBy(() -> PostgresStore.migrations(name)).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> PostgresStore.grants("perdure", name, "viewer"))
                .isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> PostgresStore.grants("perdure", "worker", name))
                .isInstanceOf(InvalidRequestException.class);
    }
}
