package dev.perdure.cli;

import dev.perdure.HistoryEvent;
import dev.perdure.Run;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.error.PayloadException;
import dev.perdure.error.RunFailedException;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;

/** Prints one run in full. */
final class RunPage {
    /** How many characters of a payload it prints. The view {@code runs} has all of it. */
    private static final int SHOWN = 2_000;

    private final PrintWriter out;
    private final Runs runs;

    RunPage(PrintWriter out, Runs runs) {
        this.out = out;
        this.runs = runs;
    }

    /** Prints the run with its input and its result, its tasks if it is the run of a DAG, and its history. */
    void print(Run<?> run, RunRef ref) {
        head(run.info());
        runs.input(ref).ifPresent(input -> payload("input", input));
        runs.ended(List.of(ref)).forEach(this::outcome);
        List<Runs.TaskRow> tasks = runs.tasks(ref);
        if (!tasks.isEmpty()) {
            out.println();
            tasks.forEach(task -> line(run, task, tasks));
        }
        out.println();
        run.history().forEach(this::line);
        failure(run);
    }

    private void outcome(Runs.Ended ended) {
        if (ended.state() == RunState.COMPLETED) {
            payload("result", ended.outcome());
        }
    }

    private void payload(String name, Payload payload) {
        if (payload.size() > 0) {
            out.printf("%-11s %s%n", name, text(payload.bytes()));
        }
    }

    /** A payload of the JSON codec as it is; binary payloads of other codecs as Base64. */
    private static String text(byte[] bytes) {
        String text;
        try {
            text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException notText) {
            text = "(Base64) " + Base64.getEncoder().encodeToString(bytes);
        }
        String line = text.replaceAll("\\p{Cntrl}", " ");
        return line.length() <= SHOWN ? line : line.substring(0, SHOWN) + "… (%d bytes)".formatted(bytes.length);
    }

    /** Prints why the run failed, with the recorded stack trace. */
    private void failure(Run<?> run) {
        try {
            run.resultNow();
        } catch (RunFailedException failed) {
            if (failed.getCause() != null) {
                out.println();
                failed.getCause().printStackTrace(out);
            }
        } catch (PayloadException ofAnotherCodec) { // the message says so
            out.printf("%n%s%n", ofAnotherCodec.getMessage());
        }
    }

    private void head(RunInfo info) {
        out.printf("run         %s%n", info.id());
        out.printf("definition  %s%n", info.definition());
        out.printf("state       %s%n", info.state());
        info.reason().ifPresent(reason -> out.printf("reason      %s%n", reason));
        info.attributes().forEach((name, value) -> out.printf("attribute   %s = %s%n", name, value));
        out.printf("created     %s%n", info.createdAt());
        out.printf("changed     %s%n", info.changedAt());
        if (!info.awaited().isEmpty()) {
            out.printf("waits for   %s%n", String.join(", ", info.awaited()));
        }
        info.wakeAt().ifPresent(wakeAt -> out.printf("wakes       %s%n", wakeAt));
        out.printf("recoveries  %d%n", info.recoveries());
    }

    private void line(Run<?> dag, Runs.TaskRow task, List<Runs.TaskRow> tasks) {
        String after =
                task.after().stream().map(place -> name(dag, tasks.get(place))).collect(Collectors.joining(", "));
        String line = "task  %-20s %-12s %s  %s"
                .formatted(
                        name(dag, task),
                        task.info().state(),
                        after.isEmpty() ? "" : "after " + after,
                        task.info().reason().orElse(""));
        out.println(line.stripTrailing());
    }

    /** The run of a task has the id of its DAG, a slash and the task's name. */
    private static String name(Run<?> dag, Runs.TaskRow task) {
        return task.run().id().value().substring(dag.id().value().length() + 1);
    }

    private void line(HistoryEvent event) {
        out.printf("%-30s %5s  %s%n", event.at(), event.position() == 0 ? "" : "#" + event.position(), event.text());
    }
}
