package dev.perdure.cli.demo;

import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RunFilter;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.schedule.CatchUp;
import dev.perdure.schedule.Fire;
import dev.perdure.schedule.Overlap;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.Times;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** A schedule that fires every second while the demo kills workers. */
record Ticks(Screen screen, Perdure client) {
    private static final String NAME = "tick";
    private static final String WORKFLOW = "demo-tick";
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final int MOST = 200;

    /** What it runs. */
    static final class Code {
        @Workflow(WORKFLOW)
        String tick(WorkflowContext ctx) {
            return Fire.of(ctx).orElseThrow().scheduledFor().toString();
        }
    }

    void begin() {
        client.schedules()
                .put(Schedule.of(NAME, Times.every(SECOND), Invocation.of(Code::tick))
                        .overlap(Overlap.ALLOW)
                        .catchUp(CatchUp.all(Duration.ofHours(1))));
        screen.line("The schedule '%s' fires every second from now on.".formatted(NAME));
    }

    /** Checks that no second is missing and none is there twice: the id of a run is its fire time. */
    void end() {
        List<Instant> times = client.runs(RunFilter.all().definition(WORKFLOW).limit(MOST)).list().stream()
                .map(run -> Instant.parse(run.id().value().substring(NAME.length() + 1)))
                .sorted()
                .toList();
        client.schedules().delete(NAME);
        Duration all = times.isEmpty() ? Duration.ZERO : Duration.between(times.getFirst(), times.getLast());
        screen.check(
                times.size() > 1 && all.equals(SECOND.multipliedBy(times.size() - 1L)),
                "the schedule has one run for each of %s seconds, also for those without a worker"
                        .formatted(times.size()));
    }
}
