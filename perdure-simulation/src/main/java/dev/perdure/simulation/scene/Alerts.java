package dev.perdure.simulation.scene;

import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.error.TerminalException;
import dev.perdure.reaction.Occasion;
import dev.perdure.reaction.Reaction;
import dev.perdure.reaction.RunEvent;
import dev.perdure.spi.Runs;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/** Reactions to runs that fail, are paused, cancelled or late: one run for each time, and none without an occasion. */
public final class Alerts implements Scene {
    private static final String WATCHED = "watched";
    private static final String NAME = "alert";
    private static final Duration LATE = Duration.ofMinutes(10);
    private static final String RESUMED = "the scene resumes it";

    private final Cast cast;
    private final int count;
    /** The runs whose events were paged. */
    private final Set<String> paged = new HashSet<>();

    /** For one history. */
    public Alerts(Cast cast) {
        this.cast = cast;
        this.count = (int) cast.choices().between(1, 4);
    }

    /** The workflows. */
    public static final class Code {
        private final Alerts scene;

        Code(Alerts scene) {
            this.scene = scene;
        }

        /** Sleeps for that many minutes; fails if the number is odd. */
        @Workflow(WATCHED)
        public int watched(WorkflowContext ctx, int minutes) {
            ctx.step("begin", () -> scene.cast.pause());
            ctx.sleep(Duration.ofMinutes(minutes));
            if (minutes % 2 == 1) {
                throw new TerminalException("The number is odd.");
            }
            return minutes;
        }

        /** Pages somebody. */
        @Workflow(NAME)
        public void alert(WorkflowContext ctx, RunEvent event) {
            ctx.step("page", () -> scene.page(ctx.runId().value(), event));
        }
    }

    private void page(String alert, RunEvent event) {
        cast.pause();
        paged.add(alert);
        if (!alert.startsWith(Reaction.ID_PREFIX + NAME + ":" + event.runId() + "#")) {
            cast.fail("The run %s was started for an event of %s.".formatted(alert, event.runId()));
        }
    }

    @Override
    public void register() {
        cast.register(
                new Code(this),
                Reaction.named(NAME)
                        .of(WATCHED)
                        .when(Occasion.FAILED, Occasion.PAUSED, Occasion.CANCELLED)
                        .late(LATE)
                        .start(Code::alert));
    }

    @Override
    public void play() {
        for (int i = 0; i < count; i++) {
            String id = WATCHED + "-" + i;
            int minutes = (int) cast.choices().between(0, 30);
            cast.call(perdure -> perdure.start(Code::watched, minutes, StartOptions.id(id)));
            cast.pauseUpTo(Duration.ofMillis(100));
            switch (cast.choices().pick(4)) {
                case 0 -> on(id, run -> run.kill("the scene ends it"));
                case 1 -> {
                    on(id, run -> run.pause(RESUMED));
                    cast.pauseUpTo(Duration.ofMillis(100));
                    on(id, Run::resume);
                }
                default -> {}
            }
        }
    }

    private void on(String id, Consumer<Run<Integer>> command) {
        cast.call(perdure -> command.accept(perdure.run(RunId.of(id), TypeRef.of(Integer.class))));
    }

    @Override
    public void check() {
        List<String> alerts =
                cast.runs(NAME).stream().map(run -> run.id().value()).toList();
        for (int i = 0; i < count; i++) {
            RunInfo run = cast.info(WATCHED + "-" + i).orElseThrow();
            checkChanges(run, alerts);
            checkLate(run, alerts);
        }
        for (String alert : alerts) {
            Cast.must(!cast.completed(alert) || paged.contains(alert), "The run %s paged nobody.", alert);
        }
    }

    /** The ids of the runs for this one, without what is the same in all of them. */
    private static Set<String> changes(RunInfo run, List<String> alerts) {
        Set<String> changes = new TreeSet<>();
        for (String alert : alerts) {
            if (alert.startsWith("%s%s:%s#".formatted(Reaction.ID_PREFIX, NAME, run.id()))) {
                changes.add(alert.substring(alert.lastIndexOf('.') + 1));
            }
        }
        return changes;
    }

    private void checkChanges(RunInfo run, List<String> alerts) {
        Set<String> expected = new TreeSet<>();
        List<Runs.Entered> entered = cast.history(run.id().value());
        for (int change = 0; change < entered.size(); change++) {
            RunState state = entered.get(change).state();
            if (state == RunState.FAILED || state == RunState.PAUSED || state == RunState.CANCELLED) {
                expected.add(String.valueOf(change));
            }
        }
        Set<String> found = changes(run, alerts);
        found.remove("late");
        Cast.must(found.equals(expected), "%s was in %s, and had these alerts: %s", run.id(), entered, found);
    }

    private static void checkLate(RunInfo run, List<String> alerts) {
        boolean found = changes(run, alerts).contains("late");
        Duration lived = Duration.between(run.createdAt(), run.changedAt());
        Cast.must(!found || lived.compareTo(LATE) >= 0, "%s lived for %s and was called late.", run.id(), lived);
        // A run that lives for that long has left memory, and the poll that takes it again finds that it is late.
        Cast.must(found || lived.compareTo(LATE.multipliedBy(2)) < 0, "%s lived for %s: not late.", run.id(), lived);
    }
}
