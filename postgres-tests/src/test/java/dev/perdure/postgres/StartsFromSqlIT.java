package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.perdure.Definition;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StartKey;
import dev.perdure.StartOptions;
import dev.perdure.attribute.Attribute;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.text.StartField;
import dev.perdure.postgres.setup.Migrations;
import dev.perdure.spi.Runs;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Plain SQL refuses what Java refuses, with the same words; what is refused later is a cancelled run with the reason. */
final class StartsFromSqlIT {
    private static final int CASES = 400;
    private static final String FILE = "migrations/V188__one_check_of_starts.sql";

    private final String schema = TestServer.schemaOf(StartsFromSqlIT.class);
    private PostgresStore store;

    @BeforeEach
    void open() {
        store = PostgresStore.on(TestServer.plain())
                .schema(schema)
                .notifications(false)
                .open();
    }

    @AfterEach
    void close() {
        store.close();
    }

    // ---- the list in Java and the check in SQL

    private static String line(StartField<?> setting) {
        String call = switch (setting.limit()) {
            case StartField.Line line ->
                "check_line('%s', %s, %d)".formatted(setting.what(), setting.name(), line.most());
            case StartField.AtLeast number ->
                "check_number('%s', %s, %d)".formatted(setting.what(), setting.name(), number.least());
            case StartField.Time time ->
                "check_time('%s', %s, %d)".formatted(setting.what(), setting.name(), StartField.LONGEST.toDays());
        };
        return "    PERFORM ${schema}.%s%s;%n"
                .formatted(call, setting.isRequired() ? "" : " WHERE %s IS NOT NULL".formatted(setting.name()));
    }

    /** If it fails, the list has changed: make the lines anew, in a new migration that replaces check_start. */
    @Test
    void the_check_in_sql_has_the_lines_of_the_list_in_java() {
        String lines = StartField.ALL.stream().map(StartsFromSqlIT::line).collect(Collectors.joining());
        assertThat(Migrations.resource(FILE)).contains("BEGIN\n" + lines);
    }

    // ---- random starts

    /**
     * A start that differs from a usual one in one setting.
     *
     * @param sql the call of the function, with parameters
     */
    private record Odd(String what, Runnable java, String sql, List<@Nullable Object> parameters) {}

    private final class Starts {
        private final Random random;

        Starts(long seed) {
            this.random = new Random(seed);
        }

        Odd next() {
            return switch (random.nextInt(14)) {
                case 0 -> text("definition", Definition::checkName, 100, false);
                case 1 -> text("id", RunId::of, 200, false);
                case 2 -> text("queue", text -> StartOptions.defaults().queue(text), 100, false);
                case 3 -> text("queue_key", text -> StartOptions.defaults().key(text), 200, true);
                case 4 -> text("version", text -> StartOptions.defaults().version(text), 100, true);
                case 5 -> weight();
                case 6 -> time("timeout", time -> StartOptions.defaults().timeout(time));
                case 7 -> time("start_within", time -> StartOptions.defaults().startWithin(time));
                case 8, 9 -> labels(random.nextBoolean());
                case 10 -> debounce();
                case 11 -> startKey();
                default -> attribute();
            };
        }

        private Odd odd(String setting, String type, @Nullable Object value, Runnable java) {
            List<@Nullable Object> parameters = new ArrayList<>();
            parameters.add(value);
            String rest = Stream.of("definition => 'order'", "id => 'usual'")
                    .filter(usual -> !usual.startsWith(setting + " "))
                    .collect(Collectors.joining(", "));
            return new Odd(
                    setting + " = " + value,
                    java,
                    "SELECT ${schema}.start_run(%s, %s => ?::%s)".formatted(rest, setting, type),
                    parameters);
        }

        private interface Checked<T> {
            void with(T value);
        }

        private Odd text(String setting, Checked<@Nullable String> java, int most, boolean orNull) {
            String text = orNull || random.nextInt(20) > 0 ? line(most) : null;
            return odd(setting, "text", text, () -> java.with(text));
        }

        /** Around the limit, with characters that count twice and some that are not allowed. */
        private String line(int most) {
            int length = switch (random.nextInt(4)) {
                case 0 -> random.nextInt(3);
                case 1 -> most - 1 + random.nextInt(3);
                case 2 -> most / 2 - 1 + random.nextInt(3);
                default -> 1 + random.nextInt(most);
            };
            int[] kinds = {'a', 0x1F600, 'é', 0xFFFD, ' '};
            int usual = kinds[random.nextInt(kinds.length)];
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < length; i++) {
                text.appendCodePoint(random.nextInt(8) == 0 ? kinds[random.nextInt(kinds.length)] : usual);
            }
            if (random.nextInt(3) == 0 && length > 0) {
                int[] odd = {'\n', '\t', 1, 0x1F, 0x7F, 0x85, 0x9F, 0xA0, 0x2028};
                text.insert(text.offsetByCodePoints(0, random.nextInt(length)), (char) odd[random.nextInt(odd.length)]);
            }
            return text.toString();
        }

        private Odd weight() {
            int weight =
                    List.of(Integer.MIN_VALUE, -1, 0, 1, 2, Integer.MAX_VALUE).get(random.nextInt(6));
            return odd(
                    "weight", "integer", weight, () -> StartOptions.defaults().weight(weight));
        }

        private Duration duration() {
            Duration longest = Duration.ofDays(36_500);
            return List.of(
                            Duration.ofSeconds(-1),
                            Duration.ofNanos(-1_000),
                            Duration.ZERO,
                            Duration.ofNanos(1_000),
                            Duration.ofSeconds(random.nextInt(1_000_000)),
                            longest,
                            longest.plusNanos(1_000),
                            longest.multipliedBy(3))
                    .get(random.nextInt(8));
        }

        private static String interval(Duration duration) {
            return "%d microseconds".formatted(duration.toSeconds() * 1_000_000 + duration.toNanosPart() / 1_000);
        }

        private Odd time(String setting, Checked<Duration> java) {
            Duration time = duration();
            return odd(setting, "interval", interval(time), () -> java.with(time));
        }

        private Odd labels(boolean required) {
            String[] pool = {
                "a=b",
                "a=c",
                "gpu=true",
                "mem>=16",
                "mem<=8",
                "mem>=x",
                "mem=x",
                "",
                " a=b",
                "a",
                "=b",
                "a==b",
                "a=b=c",
                "worker=1",
                "worker>=1",
                "a>=-1.5",
                "a>=1.",
                "a>=1234567890123456",
                "x".repeat(198) + "=b",
                "x".repeat(199) + "=b",
                "é=b",
                "a=\n"
            };
            List<String> labels = new ArrayList<>();
            for (int i = random.nextInt(3); i >= 0; i--) {
                labels.add(pool[random.nextInt(pool.length)]);
            }
            if (random.nextInt(6) == 0) {
                for (int i = 0; i < 11; i++) {
                    labels.add("l%02d=x".formatted(i));
                }
            }
            long wrong =
                    labels.stream().filter(label -> !isLabel(label)).distinct().count();
            if (wrong > 1) { // which of them is named first, depends
                return labels(required);
            }
            String[] given = labels.toArray(String[]::new);
            return odd(required ? "requires" : "prefers", "text", String.join(",", labels), () -> {
                if (required) {
                    StartOptions.defaults().requires(given);
                } else {
                    StartOptions.defaults().prefers(given);
                }
            });
        }

        private static boolean isLabel(String label) {
            try {
                StartOptions.defaults().requires(label);
                return true;
            } catch (InvalidRequestException refused) {
                return false;
            }
        }

        private Odd debounce() {
            Duration quiet = duration();
            Duration longest = duration();
            return new Odd(
                    "debounce " + quiet + " " + longest,
                    () -> StartKey.debounce("k", quiet, longest),
                    "SELECT ${schema}.start_run_under_key('order', 'k', 'quiet', key_time => ?::interval, key_longest => ?::interval)",
                    List.of(interval(quiet), interval(longest)));
        }

        private Odd startKey() {
            String key = line(200);
            return new Odd(
                    "start key " + key,
                    () -> StartKey.deduplicate(key),
                    "SELECT ${schema}.start_run_under_key('order', ?)",
                    List.of(key));
        }

        private Odd attribute() {
            String name = random.nextInt(3) == 0 ? line(100) : "a";
            return switch (random.nextInt(5)) {
                case 0 -> {
                    String text = line(500);
                    yield attribute(
                            name, quoted(text), () -> StartOptions.defaults().attribute(Attribute.text(name), text));
                }
                case 1 -> {
                    String number = List.of(
                                    "1", "-1.50", "1e30", "1e29", "0.1e-29", "1e-31", "12345678901234567890.5e12")
                            .get(random.nextInt(7));
                    yield attribute(
                            name,
                            number,
                            () -> StartOptions.defaults().attribute(Attribute.number(name), new BigDecimal(number)));
                }
                case 2 -> attribute(name, "true", () -> StartOptions.defaults().attribute(Attribute.flag(name), true));
                case 3 -> {
                    String time = "%04d-0%d-10T12:00:00Z".formatted(random.nextInt(10_000), 1 + random.nextInt(9));
                    yield attribute(
                            name,
                            "{\"time\":\"%s\"}".formatted(time),
                            () -> StartOptions.defaults().attribute(Attribute.time(name), Instant.parse(time)));
                }
                default -> {
                    List<String> words = Stream.generate(() -> line(500))
                            .limit(random.nextInt(4))
                            .toList();
                    yield words.stream().filter(Starts::isWord).count() < words.size() - 1
                            ? attribute()
                            : attribute(
                                    name,
                                    words.stream().map(Starts::quoted).collect(Collectors.joining(",", "[", "]")),
                                    () -> StartOptions.defaults().attribute(Attribute.keywords(name), words));
                }
            };
        }

        private static boolean isWord(String word) {
            try {
                StartOptions.defaults().attribute(Attribute.keywords("a"), List.of(word));
                return true;
            } catch (InvalidRequestException refused) {
                return false;
            }
        }

        private Odd attribute(String name, String json, Runnable java) {
            return odd("attributes", "jsonb", "{%s:%s}".formatted(quoted(name), json), java);
        }

        private static String quoted(String text) {
            return text.codePoints()
                    .mapToObj(point -> point < ' ' || point == 0x7F || point >= 0x80 && point < 0xA0
                            ? "\\u%04x".formatted(point)
                            : Character.toString(point))
                    .collect(Collectors.joining("", "\"", "\""));
        }
    }

    /** How the two print a time or a number differs. */
    private static String words(String message) {
        return message.replaceFirst("(?s)\\n.*", "")
                .replaceFirst("^ERROR: ", "")
                .replaceFirst(" is [^ ]+( [^;]*)?; it must", " is …; it must")
                .replaceFirst(
                        "(?s) is .*, which is shorter than the quiet time .*[.] Make", " is …, shorter than …. Make")
                .replaceFirst("(?s)(the attribute '.*') is .*; it", "$1 is …; it");
    }

    private static String refusal(Odd start) {
        try {
            start.java().run();
            return "accepted";
        } catch (InvalidRequestException refused) {
            return words(String.valueOf(refused.getMessage()));
        }
    }

    private String refusalBySql(Connection connection, Odd start) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement(start.sql().replace("${schema}", schema))) {
            for (int i = 0; i < start.parameters().size(); i++) {
                statement.setObject(i + 1, start.parameters().get(i));
            }
            statement.execute();
            return "accepted";
        } catch (SQLException refused) {
            assertThat(refused.getSQLState()).as(start.what()).isEqualTo("22023");
            return words(String.valueOf(refused.getMessage()));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void random_starts_are_refused_alike_and_what_sql_accepts_becomes_a_run(long seed) throws SQLException {
        Starts starts = new Starts(seed);
        try (Connection connection = TestServer.plain().getConnection()) {
            for (int i = 0; i < CASES; i++) {
                Odd start = starts.next();
                assertThat(refusalBySql(connection, start)).as(start.what()).isEqualTo(refusal(start));
            }
        }
        StoreFixture fixture = new StoreFixture(store);
        while (!TestServer.query("SELECT count(*) FROM %s.inbox".formatted(schema))
                .equals("0")) {
            store.dispatch().poll(fixture.poll(0));
        }
        assertThat(TestServer.query(
                        "SELECT count(*) FROM %s.run WHERE reason LIKE 'The start was accepted%%'".formatted(schema)))
                .isEqualTo("0");
    }

    // ---- what only the inbox finds

    private Runs.Found read(String id) {
        StoreFixture fixture = new StoreFixture(store);
        store.dispatch().poll(fixture.poll(10));
        assertThat(store.dispatch().poll(fixture.poll(10)).claimed()).isEmpty();
        return store.runs().find(RunId.of(id)).orElseThrow();
    }

    static Stream<Arguments> senseless() {
        return Stream.of(
                arguments("version", "E'a\\nb'", "The version holds the character U+000A at index 1"),
                arguments("timeout", "-5", "The run timeout is PT-0.000005S; it must be longer than zero"),
                arguments("delay", "-1", "The delay is PT-0.000001S; it cannot be negative"),
                arguments("start_within", "0", "The time to start within is PT0S"),
                arguments("queue", "''", "The queue is empty."),
                arguments("queue", "repeat('q', 3000)", "has 3000 characters; at most 100 are allowed"),
                arguments("queue_key", "repeat('😀', 150)", "has 300 characters; at most 200 are allowed"),
                arguments("weight", "0", "The weight is 0; it is at least 1."),
                arguments("definition", "E'a\\nb'", "The definition name holds the character U+000A"),
                arguments("placement", "'a=b,a=c'", "The run requires a=b and a=c, which no worker can meet at once."),
                arguments("placement", "'x'", "The requirement 'x' is not a label"),
                arguments("attributes", "'[1]'", "The attributes are [1]. Give an object"),
                arguments(
                        "attributes",
                        "'{\"t\": {\"time\": \"2026-02-31T12:00:00Z\"}}'",
                        "The value '2026-02-31T12:00:00Z' of an attribute cannot be read."),
                arguments(
                        "start_rule, start_key",
                        "'quiet', 'k'",
                        "The rule 'quiet' of the start key 'k' is unknown, or lacks its times."),
                arguments("memo", "repeat('m', 4001)", "The memo has 4001 characters; at most 4000 are allowed."));
    }

    @ParameterizedTest
    @MethodSource("senseless")
    void a_request_that_is_refused_after_it_was_accepted_is_a_cancelled_run_with_the_reason(
            String columns, String values, String reason) {
        String[] usual = {"definition", "'order'", "queue", "'default'"};
        StringBuilder names = new StringBuilder(columns);
        StringBuilder all = new StringBuilder(values);
        for (int i = 0; i < usual.length; i += 2) {
            if (!columns.equals(usual[i])) {
                names.append(", ").append(usual[i]);
                all.append(", ").append(usual[i + 1]);
            }
        }
        TestServer.execute("INSERT INTO %s.inbox (seed, wish, id, input, %s) VALUES (1, 0, 'bad', '{}', %s)"
                .formatted(schema, names, all));
        Runs.Found run = read("bad");
        assertThat(run.info().state()).isEqualTo(RunState.CANCELLED);
        assertThat(run.info().reason().orElseThrow())
                .startsWith("The start was accepted in a transaction or from SQL, and cannot be carried out: ")
                .contains(reason);
        assertThat(TestServer.query("SELECT count(*) FROM %s.inbox".formatted(schema)))
                .isEqualTo("0");
    }

    @Test
    void a_dag_with_a_task_that_cannot_be_started_is_a_cancelled_run_without_tasks() {
        TestServer.execute("""
                WITH dag AS (
                    INSERT INTO %1$s.inbox (seed, wish, id, definition, queue, input, tasks)
                    VALUES (1, 0, 'bad', 'order', 'default', '1', 2) RETURNING number
                )
                INSERT INTO %1$s.inbox_task (number, seed, place, priority, id, definition, queue, after)
                SELECT number, t.place, t.place, 0, t.id, 'order', 'default', '{}'
                FROM dag, (VALUES (0, 'fine'), (1, E'b\\nd')) AS t (place, id)""".formatted(schema));
        Runs.Found run = read("bad");
        assertThat(run.info().state()).isEqualTo(RunState.CANCELLED);
        assertThat(run.info().reason().orElseThrow()).contains("The run id holds the character U+000A at index 1");
        assertThat(store.runs().find(RunId.of("fine"))).isEmpty();
        assertThat(TestServer.query("SELECT count(*) FROM %s.inbox_task".formatted(schema)))
                .isEqualTo("0");
    }
}
