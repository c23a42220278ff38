package dev.perdure.testing;

import static dev.perdure.StartOptions.id;
import static dev.perdure.StepOptions.retry;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.DurableFuture;
import dev.perdure.History;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.Topic;
import dev.perdure.error.PerdureException;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Journals that a person has edited, that another version has written, or that are broken. The code of the run sees the
 * answers that are recorded, or the run would be paused with a reason. It never sees an error of the engine.
 */
final class JournalFuzzTest {
    private static final int FEW = 400;
    private static final int MANY = 20_000;
    private static final Topic<String> NEWS = Topic.of("news", String.class);
    private static final Topic<String> APPROVAL = Topic.of("approval", String.class);
    private static final JsonMapper JSON = new JsonMapper();

    private static final List<String> KINDS = List.of(
            "STEP",
            "TRANSACTION",
            "SLEEP",
            "NOW",
            "PATCH",
            "TIMER",
            "RECEIVE",
            "CHILD",
            "PROMISE",
            "AWAKEABLE",
            "EVENT",
            "CHOICE",
            "AWAIT",
            "EFFECT",
            "STATE",
            "STATE_NAMES",
            "UNKNOWN",
            "TELEPORT",
            "");
    private static final List<String> STATUSES =
            List.of("VALUE", "FAILURE", "BEGUN", "ATTEMPT", "CANCELLED", "DEADLINE", "ABSENT", "UNKNOWN", "MAYBE", "");
    private static final List<String> PAYLOADS = List.of(
            "",
            "null",
            "0",
            "-1",
            "99",
            "true",
            "\"\"",
            "\"x\"",
            "[]",
            "[null]",
            "{}",
            "{",
            "1e99999999999",
            "{\"failure\": null}",
            "{\"failure\": {}}",
            "{\"failure\": {\"type\": null, \"stack\": null}}",
            "{\"failure\": {\"type\": \"a\", \"stack\": [null]}}",
            "{\"failure\": {\"type\": \"a\", \"stack\": [{}]}}",
            "{\"text\": null}",
            "{\"text\": \"FAILED: x\", \"failure\": {}}",
            "{\"text\": \"x\"}",
            "{\"failure\": {\"type\": \"a\", \"stack\": []}, \"attempt\": -5, \"delayMillis\": -9}",
            "\"+1000000000-12-31T23:59:59.999999999Z\"",
            "[".repeat(2_000),
            "\u0000");
    private static final List<String> TIMES = List.of(
            "2026-01-01T00:00:00Z",
            "+1000000000-12-31T23:59:59.999999999Z",
            "-1000000000-01-01T00:00:00Z",
            "never",
            "");

    private final Definition<String, String> child =
            Definition.of("child", String.class, String.class, (ctx, in) -> ctx.step("work", () -> in + "!"));
    private final AtomicInteger tries = new AtomicInteger();
    private final Definition<String, String> flow = Definition.of("flow", String.class, String.class, (ctx, in) -> {
        Instant began = ctx.now();
        BigDecimal charged = ctx.step("charge", () -> new BigDecimal("12.50"));
        String problem = "";
        try {
            ctx.step("fail", () -> failing(), retry(2));
        } catch (PerdureException failed) {
            problem = failed.getMessage();
        }
        DurableFuture<String> beside = ctx.stepAsync("beside", () -> "b");
        DurableFuture<String> message = ctx.receive(NEWS);
        int first = DurableFuture.any(beside, message).await();
        ctx.sleep(Duration.ofHours(1));
        String called = ctx.call(Invocation.of(child, in));
        boolean patched = ctx.patched("new");
        String news = message.orTimeout(Duration.ofMinutes(1)).await();
        ctx.publish(NEWS, news);
        String promised = ctx.promise(APPROVAL).await();
        return String.join(" ", "" + began, "" + charged, problem, "" + first, called, "" + patched, news, promised);
    });

    private String failing() {
        throw new UnsupportedOperationException("try " + tries.incrementAndGet());
    }

    private History exported() {
        try (PerdureTest perdure = PerdureTest.create()) {
            perdure.register(flow, child);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("f"));
            perdure.settle();
            run.send(NEWS, "hello");
            run.promise(APPROVAL).resolve("yes");
            assertThat(run.result()).endsWith("true hello yes");
            return run.export();
        }
    }

    private static <T> T oneOf(Random random, List<T> list) {
        return list.get(random.nextInt(list.size()));
    }

    /** The history with some entries changed, moved, removed or repeated. */
    private static History changed(History history, Random random) {
        ObjectNode json = (ObjectNode) JSON.readTree(history.json());
        ArrayNode journal = (ArrayNode) json.get("journal");
        for (int changes = 1 + random.nextInt(3); changes > 0 && !journal.isEmpty(); changes--) {
            int at = random.nextInt(journal.size());
            ObjectNode entry = (ObjectNode) journal.get(at);
            switch (random.nextInt(11)) {
                case 0 -> entry.put("kind", oneOf(random, KINDS));
                case 1 -> entry.put("status", oneOf(random, STATUSES));
                case 2, 3, 4 -> entry.put("payload", oneOf(random, PAYLOADS));
                case 5 -> entry.put("position", random.nextInt(30) - 5);
                case 6 -> entry.put("note", random.nextInt(6) - 2);
                case 7 -> entry.put("at", oneOf(random, TIMES));
                case 8 -> entry.put("name", random.nextBoolean() ? "other" : "");
                case 9 -> journal.remove(at);
                default -> journal.insert(at, entry.deepCopy());
            }
        }
        return new History(random.nextInt(8) == 0 ? broken(json.toString(), random) : json.toString());
    }

    private static String broken(String json, Random random) {
        int at = random.nextInt(json.length());
        return random.nextBoolean()
                ? json.substring(0, at)
                : json.substring(0, at) + (char) (' ' + random.nextInt(90)) + json.substring(at + 1);
    }

    private void feed(int count) {
        History history = exported();
        List<String> outcomes = new ArrayList<>();
        try (PerdureTest perdure = PerdureTest.create()) {
            perdure.register(flow, child);
            perdure.check(List.of(history));
            Random random = new Random(3);
            for (int i = 0; i < count; i++) {
                History other = changed(history, random);
                String outcome = outcome(perdure, other);
                assertThat(outcome)
                        .as("%s", other.json())
                        .doesNotContain(
                                "NullPointer",
                                "IllegalState",
                                "IllegalArgument",
                                "OutOfBounds",
                                "ClassCast",
                                "DateTimeException",
                                "Arithmetic",
                                "NumberFormat",
                                "StackOverflow");
                outcomes.add(outcome);
            }
        }
        assertThat(outcomes).anyMatch(String::isEmpty);
        assertThat(outcomes).anyMatch(outcome -> outcome.contains("does not fit the journal"));
        assertThat(outcomes).anyMatch(outcome -> outcome.contains("cannot be read back"));
        assertThat(outcomes).anyMatch(outcome -> outcome.contains("that this version of Perdure does not know"));
    }

    private static String outcome(PerdureTest perdure, History history) {
        try {
            perdure.check(List.of(history));
            return "";
        } catch (HistoryMismatchError mismatch) {
            return mismatch.differences().getFirst();
        } catch (PerdureException refused) {
            return refused.getMessage();
        }
    }

    @Test
    void a_changed_journal_is_replayed_or_refused_with_a_reason() {
        feed(FEW);
    }

    @Test
    @Tag("thorough")
    void very_many_changed_journals_are_replayed_or_refused_with_a_reason() {
        feed(MANY);
    }
}
