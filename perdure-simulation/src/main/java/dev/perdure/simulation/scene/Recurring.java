package dev.perdure.simulation.scene;

import dev.perdure.Invocation;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.UnknownScheduleException;
import dev.perdure.schedule.CatchUp;
import dev.perdure.schedule.Fire;
import dev.perdure.schedule.Overlap;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.Schedules;
import dev.perdure.schedule.Times;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/** Schedules that fire a limited number of times, are put twice, triggered, paused and resumed. */
public final class Recurring implements Scene {
    private static final String RUNS = "recurring";
    private static final String NAME = "rota";

    private final Cast cast;
    private final Duration period;
    private final int limit;
    private final Overlap overlap;
    private final boolean catchesUp;
    private final boolean pauses;
    private final Set<String> triggered = new TreeSet<>();
    private final Set<String> fires = new TreeSet<>();

    /** For one history. */
    public Recurring(Cast cast) {
        this.cast = cast;
        this.period = Duration.ofMillis(cast.choices().between(100, 3_000));
        // Some come to their next life: a schedule begins anew after twenty turns.
        this.limit = (int)
                (cast.choices().oneIn(4)
                        ? cast.choices().between(20, 30)
                        : cast.choices().between(1, 5));
        Overlap[] all = Overlap.values();
        this.overlap = cast.isAimedAt("Effect.Cancel")
                ? Overlap.CANCEL
                : all[(int) cast.choices().between(0, all.length - 1)];
        this.catchesUp = cast.choices().oneIn(2);
        this.pauses = cast.choices().oneIn(3);
    }

    /** The workflow. */
    public static final class Code {
        private final Recurring scene;

        Code(Recurring scene) {
            this.scene = scene;
        }

        /** Notes why it was started. */
        @Workflow(RUNS)
        public void run(WorkflowContext ctx, String input) {
            Fire fire = Fire.of(ctx).orElseThrow();
            ctx.step("note", () -> scene.note(ctx.runId().value(), fire));
            ctx.sleep(Duration.ofMillis(50));
        }
    }

    private void note(String run, Fire fire) {
        cast.pause();
        fires.add(run);
        if (run.contains("@") && !run.equals(NAME + "@" + fire.scheduledFor())) {
            cast.fail("Run %s was started for %s.".formatted(run, fire.scheduledFor()));
        }
        if (fire.firedAt().isBefore(fire.scheduledFor())) {
            cast.fail("Run %s was started at %s, before its time.".formatted(run, fire.firedAt()));
        }
    }

    private Schedule schedule() {
        Schedule schedule = Schedule.of(NAME, Times.every(period), Invocation.of(Code::run, "in"))
                .limit(limit)
                .overlap(overlap);
        return catchesUp ? schedule.catchUp(CatchUp.all(Duration.ofDays(1_000))) : schedule;
    }

    @Override
    public void register() {
        cast.register(new Code(this));
    }

    @Override
    public void play() {
        ask(schedules -> schedules.put(schedule()));
        cast.pauseUpTo(Duration.ofMillis(200));
        if (cast.choices().oneIn(2)) {
            ask(schedules -> triggered.add(schedules.trigger(NAME).value()));
        }
        if (pauses) {
            ask(schedules -> schedules.pause(NAME, "enough for now"));
            cast.pauseUpTo(Duration.ofMillis(500));
            ask(schedules -> schedules.resume(NAME));
        }
        if (cast.choices().oneIn(3)) {
            ask(schedules -> schedules.put(schedule()));
        }
    }

    private void ask(Consumer<Schedules> what) {
        cast.call(perdure -> {
            try {
                what.accept(perdure.schedules());
            } catch (UnknownScheduleException | InvalidRequestException ended) {
                // an operator was faster
            }
        });
    }

    @Override
    public void check() {
        List<RunInfo> runs = cast.runs(RUNS).stream()
                .sorted(Comparator.comparing(RunInfo::createdAt)
                        .thenComparing(run -> run.id().value()))
                .toList();
        List<Instant> times = runs.stream()
                .map(run -> run.id().value())
                .filter(id -> id.startsWith(NAME + "@"))
                .map(id -> Instant.parse(id.substring(NAME.length() + 1)))
                .sorted()
                .toList();
        checkTimes(times);
        if (overlap != Overlap.ALLOW && triggered.isEmpty()) {
            checkNoOverlap(runs);
        }
        for (RunInfo run : runs) {
            Cast.must(
                    run.state() != RunState.COMPLETED || fires.contains(run.id().value()),
                    "Run %s completed without its step.",
                    run.id());
        }
        boolean ended = cast.info("schedule:" + NAME)
                .map(info -> info.state().isTerminal())
                .orElse(true);
        if (!ended) {
            triggered.forEach(run -> Cast.must(cast.info(run).isPresent(), "Run %s was never started.", run));
            checkAllFired(times);
        }
    }

    private void checkTimes(List<Instant> times) {
        Cast.must(times.size() <= limit, "The schedule fired %s times and may fire %s times.", times.size(), limit);
        for (int i = 1; i < times.size(); i++) {
            long between = Duration.between(times.getFirst(), times.get(i)).toMillis();
            Cast.must(between % period.toMillis() == 0, "Not a fire time of every %s: %s", period, times);
        }
    }

    /** Unless it skips some of them, a schedule fires at consecutive times, as often as it may. */
    private void checkAllFired(List<Instant> times) {
        boolean mayMiss =
                pauses || !catchesUp || overlap == Overlap.SKIP || overlap == Overlap.WAIT || overlap == Overlap.CANCEL;
        Cast.must(
                mayMiss || times.size() == limit,
                "The schedule fired %s times and has to fire %s times, every %s: %s",
                times.size(),
                limit,
                period,
                times);
        Cast.must(
                mayMiss || Duration.between(times.getFirst(), times.getLast()).equals(period.multipliedBy(limit - 1L)),
                "A fire time of every %s is missing: %s",
                period,
                times);
    }

    private static void checkNoOverlap(List<RunInfo> runs) {
        for (int i = 1; i < runs.size(); i++) {
            RunInfo before = runs.get(i - 1);
            Cast.must(
                    !before.changedAt().isAfter(runs.get(i).createdAt()),
                    "Run %s was started before %s had ended.",
                    runs.get(i).id(),
                    before.id());
        }
    }
}
