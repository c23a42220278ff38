package dev.perdure.cli.run;

import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.attribute.AttributeValue;
import dev.perdure.audit.AuditEntry;
import dev.perdure.audit.AuditFilter;
import dev.perdure.cli.output.ExactJson;
import dev.perdure.cli.output.Fields;
import dev.perdure.cli.output.Page;
import dev.perdure.error.PayloadException;
import dev.perdure.error.RunFailedException;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.payload.EncryptedPayload;
import dev.perdure.spi.payload.PayloadReference;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import tools.jackson.core.JacksonException;

/** Prints runs: in a list, or one in full. */
public final class RunPage {
    /** How many characters of a payload it prints as text. JSON and the view {@code runs} have all of it. */
    private static final int SHOWN = 2_000;

    private static final int TASK_PAGE = 1_000;
    private static final int AUDIT_PAGE = 1_000;

    /** A run in a list. */
    public static final Fields<RunInfo> ROW = Fields.<RunInfo>of()
            .and("id", RunInfo::id)
            .and("definition", RunInfo::definition)
            .and("state", RunInfo::state)
            .text("created", RunInfo::createdAt)
            .text("changed", RunInfo::changedAt)
            .and("reason", RunInfo::reason)
            .json("status", info -> info.description().status())
            .json("attributes", RunPage::attributes)
            .json("created_at", RunInfo::createdAt)
            .json("changed_at", RunInfo::changedAt)
            .json("awaited", RunInfo::awaited)
            .json("wake_at", RunInfo::wakeAt)
            .json("recoveries", RunInfo::recoveries);

    private static final Fields<Shown> DETAILS = Fields.<Shown>of()
            .text("run", shown -> shown.info().id())
            .json("id", shown -> shown.info().id())
            .and("definition", shown -> shown.info().definition())
            .and("state", shown -> shown.info().state())
            .and("reason", shown -> shown.info().reason())
            .and("status", shown -> shown.info().description().status())
            .and("memo", shown -> shown.info().description().memo())
            .and("attributes", shown -> attributes(shown.info()))
            .and("headers", shown -> shown.info().description().headers())
            .and("created_at", shown -> shown.info().createdAt())
            .and("changed_at", shown -> shown.info().changedAt())
            .text("waits_for", shown -> shown.info().awaited())
            .json("awaited", shown -> shown.info().awaited())
            .and("wake_at", shown -> shown.info().wakeAt())
            .and("recoveries", shown -> shown.info().recoveries())
            .json("input", shown -> shown.input().map(RunPage::parsed))
            .text("input", shown -> shown.input().map(RunPage::shortened))
            .json("result", shown -> shown.result().map(RunPage::parsed))
            .text("result", shown -> shown.result().map(RunPage::shortened));

    private static final Fields<Task> TASK = Fields.<Task>of()
            .text("task", Task::name)
            .json("name", Task::name)
            .and("state", task -> task.info().state())
            .text("changed", task -> task.info().changedAt())
            .json("changed_at", task -> task.info().changedAt())
            .and("after", Task::after)
            .and("reason", task -> task.info().reason());

    private final Runs runs;

    public RunPage(Runs runs) {
        this.runs = runs;
    }

    /**
     * A run with its payloads.
     *
     * @param info the run
     * @param input its input
     * @param result its result, if it has one
     */
    private record Shown(RunInfo info, Optional<String> input, Optional<String> result) {}

    /**
     * A task of a DAG.
     *
     * @param name its name
     * @param info its run
     * @param after the names of the tasks that it comes after
     */
    private record Task(String name, RunInfo info, List<String> after) {}

    /** Adds the run with its input and its result, its tasks if it is the run of a DAG, what its steps report, and its history. */
    public Page add(Page page, Run<?> run, RunRef ref) {
        Optional<Payload> result = runs.ended(List.of(ref)).stream()
                .filter(ended -> ended.state() == RunState.COMPLETED)
                .map(Runs.Ended::outcome)
                .findFirst();
        page.one(
                "run",
                DETAILS,
                new Shown(run.info(), runs.input(ref).flatMap(RunPage::text), result.flatMap(RunPage::text)));
        List<Task> tasks = tasks(run, ref);
        if (!tasks.isEmpty()) {
            page.many("tasks", TASK, tasks, "");
        }
        ReportPage.add(page, run);
        History.add(page, run.history());
        List<AuditEntry> entries = audit(run.info());
        if (!entries.isEmpty()) {
            page.many("audit", AuditRow.FIELDS, entries, "");
        }
        if (result.filter(PayloadReference::is)
                .isEmpty()) { // A large result is not read only to be sure that it is none.
            failure(run).ifPresent(failure -> page.block("failure", failure));
        }
        return page;
    }

    /** The commands to a run, oldest first. An earlier run may have had the same id. */
    private List<AuditEntry> audit(RunInfo info) {
        AuditFilter filter = AuditFilter.run(info.id().value()).limit(AUDIT_PAGE);
        List<AuditEntry> page = runs.audited(filter);
        List<AuditEntry> entries = new ArrayList<>(page);
        while (page.size() == AUDIT_PAGE) {
            page = runs.audited(filter.after(page.getLast()));
            entries.addAll(page);
        }
        return entries.reversed().stream()
                .filter(entry -> !entry.at().isBefore(info.createdAt()))
                .toList();
    }

    /**
     * A payload of the JSON codec as it is; binary payloads of other codecs as Base64; of a large one its hash and its
     * size, as the views of the database show it; of an encrypted one the id of its key and its size.
     */
    private static Optional<String> text(Payload payload) {
        if (payload.size() == 0) {
            return Optional.empty();
        }
        Optional<PayloadReference> large = PayloadReference.of(payload);
        if (large.isPresent()) {
            return large.map(
                    reference -> "{\"payload\": \"%s\", \"size\": %s}".formatted(reference.hash(), reference.size()));
        }
        Optional<EncryptedPayload> encrypted = EncryptedPayload.of(payload);
        if (encrypted.isPresent()) {
            return encrypted.map(seen -> "{\"encrypted\": \"%s\", \"size\": %s}".formatted(seen.key(), seen.size()));
        }
        try {
            return Optional.of(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(payload.bytes()))
                    .toString());
        } catch (CharacterCodingException notText) {
            return Optional.of("(Base64) " + Base64.getEncoder().encodeToString(payload.bytes()));
        }
    }

    /** The value that a payload of the JSON codec has; the text of another one. */
    private static Object parsed(String text) {
        try {
            return ExactJson.MAPPER.readTree(text);
        } catch (JacksonException | NumberFormatException ofAnotherCodec) {
            return text;
        }
    }

    private static String shortened(String text) {
        return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "… (%s characters)".formatted(text.length());
    }

    /** Why the run failed, with the recorded stack trace. */
    private static Optional<String> failure(Run<?> run) {
        try {
            run.resultNow();
            return Optional.empty();
        } catch (RunFailedException failed) {
            return Optional.ofNullable(failed.getCause()).map(RunPage::stackTrace);
        } catch (PayloadException ofAnotherCodec) { // the message says so
            return Optional.of(String.valueOf(ofAnotherCodec.getMessage()));
        }
    }

    private static Map<String, Object> attributes(RunInfo info) {
        Map<String, Object> values = new TreeMap<>();
        info.description().attributes().forEach((name, value) -> values.put(name, plain(value)));
        return values;
    }

    private static Object plain(AttributeValue value) {
        return switch (value) {
            case AttributeValue.Text text -> text.value();
            case AttributeValue.Decimal number -> number.value();
            case AttributeValue.Flag flag -> flag.value();
            case AttributeValue.Time time -> time.value();
            case AttributeValue.Keywords keywords -> keywords.words();
            case AttributeValue.Encrypted encrypted -> sealed(encrypted);
            case AttributeValue.Unreadable unreadable -> Map.of("unreadable", unreadable.encoded());
        };
    }

    private static Map<String, Object> sealed(AttributeValue.Encrypted value) {
        return EncryptedPayload.of(value)
                .map(seen -> Map.<String, Object>of("encrypted", seen.key(), "size", seen.size()))
                .orElseGet(() -> Map.of("encrypted", ""));
    }

    private static String stackTrace(Throwable thrown) {
        StringWriter text = new StringWriter();
        thrown.printStackTrace(new PrintWriter(text, true));
        return text.toString();
    }

    private List<Task> tasks(Run<?> dag, RunRef ref) {
        List<Task> tasks = new ArrayList<>();
        Optional<Runs.BelowPlace> next = Optional.of(Runs.BelowPlace.FIRST);
        while (next.isPresent()) {
            Runs.BelowPage page = runs.tasks(ref, next.get(), TASK_PAGE);
            page.runs().forEach(task -> tasks.add(task(dag, task)));
            next = page.next();
        }
        return tasks;
    }

    private static Task task(Run<?> dag, Runs.Below task) {
        return new Task(
                name(dag, task.run().id()),
                task.info(),
                task.after().stream().map(id -> name(dag, id)).toList());
    }

    /** The run of a task has the id of its DAG, a slash and the task's name. */
    private static String name(Run<?> dag, RunId task) {
        return task.value().substring(dag.id().value().length() + 1);
    }
}
