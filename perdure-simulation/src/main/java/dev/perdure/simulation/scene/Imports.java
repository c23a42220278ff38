package dev.perdure.simulation.scene;

import dev.perdure.Attempt;
import dev.perdure.RetryPolicy;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.StepOptions;
import dev.perdure.TypeRef;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.report.LogFilter;
import dev.perdure.report.LogLine;
import dev.perdure.spi.report.StepLog;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.event.Level;

/** Steps that report progress and heartbeats and log lines, and go on from the heartbeat of the attempt before. */
public final class Imports implements Scene {
    private static final int ATTEMPTS = 4;
    private static final StepOptions RETRIED = StepOptions.retry(RetryPolicy.standard()
            .attempts(ATTEMPTS + 1)
            .initialDelay(Duration.ofMillis(10))
            .maxDelay(Duration.ofSeconds(5)));

    private final Cast cast;
    private final int count;
    private int lines;

    /** For one history. */
    public Imports(Cast cast) {
        this.cast = cast;
        this.count = (int) cast.choices().between(1, 3);
    }

    /** The workflows. */
    public static final class Code {
        private final Imports scene;

        Code(Imports scene) {
            this.scene = scene;
        }

        /** Imports pages in a step and in one beside it, of which the first attempts fail. */
        @Workflow("imports")
        public int pages(WorkflowContext ctx, int number) {
            var beside = ctx.stepAsync("beside", () -> scene.attempt(ctx.attempt(), number % ATTEMPTS), RETRIED);
            int pages = ctx.step("pages", () -> scene.attempt(ctx.attempt(), number), RETRIED);
            return pages + beside.await();
        }
    }

    /**
     * Each attempt imports a page. So one that follows as many failed ones finds that as many pages are there, at least:
     * what a failed attempt reported last is recorded with its failure.
     */
    private int attempt(Attempt attempt, int failures) {
        int before = attempt.lastHeartbeat(Integer.class).orElse(0);
        if (before < attempt.number() - 1) {
            cast.fail("Attempt %s goes on from page %s.".formatted(attempt.number(), before));
        }
        log("begins after page " + before);
        cast.pause();
        attempt.progress(1.0 / (before + 1), "page " + (before + 1));
        attempt.heartbeat(before + 1);
        cast.pauseUpTo(Duration.ofMillis(cast.choices().oneIn(4) ? 3_000 : 100));
        log("ends");
        if (attempt.number() <= failures) {
            throw new IllegalStateException("The page is torn.");
        }
        return attempt.number();
    }

    /** No two lines are equal. */
    private void log(String text) {
        lines++;
        StepLog.append(Level.INFO, "imports", "line %s: %s".formatted(lines, text));
    }

    @Override
    public void register() {
        cast.register(new Code(this));
    }

    @Override
    public void play() {
        for (int i = 0; i < count; i++) {
            String id = "import-" + i;
            int failures = (int) cast.choices().between(0, ATTEMPTS);
            cast.call(perdure -> perdure.start(Code::pages, failures, StartOptions.id(id)));
            cast.pauseUpTo(Duration.ofMillis(500));
            cast.call(perdure -> perdure.run(RunId.of(id), TypeRef.of(Integer.class))
                    .progress()
                    .forEach(progress -> Cast.must(
                            progress.attempt() <= ATTEMPTS + 1
                                    && progress.fraction().isPresent(),
                            "%s",
                            progress)));
        }
    }

    @Override
    public void check() {
        for (int i = 0; i < count; i++) {
            var run = cast.perdure().run(RunId.of("import-" + i), TypeRef.of(Integer.class));
            List<LogLine> log = run.log(LogFilter.oldest(1_000)).lines();
            Set<String> seen = new HashSet<>();
            long last = 0;
            for (LogLine line : log) {
                Cast.must(seen.add(line.text()), "%s logged a line twice: %s", run.id(), line);
                Cast.must(line.number() > last, "%s logged %s after line %s.", run.id(), line, last);
                last = line.number();
            }
            if (cast.completed("import-" + i)) {
                Cast.must(run.progress().isEmpty(), "%s has completed and still reports.", run.id());
            }
        }
    }
}
