package dev.perdure.testing.scenarios;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.RunFilter;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.Topic;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.Times;
import dev.perdure.testing.PerdureTest;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** What the groups of scenarios about schedules have in common. */
abstract class ScheduledRuns extends Scenarios {
    static final Duration HOUR = Duration.ofHours(1);
    static final Duration MINUTE = Duration.ofMinutes(1);
    static final Topic<String> GO = Topic.of("go", String.class);

    /** A workflow that ends at once. */
    static final Definition<String, String> REPORT = workflow("report", (ctx, in) -> in);

    /** A workflow that ends when it is told to. */
    static final Definition<String, String> WAITS =
            workflow("waits", (ctx, in) -> ctx.receive(GO).await());

    static Schedule every(String name, Duration period, Definition<String, String> what) {
        return Schedule.of(name, Times.every(period), Invocation.of(what, "in"));
    }

    static Schedule hourly(Definition<String, String> what) {
        return every("hourly", HOUR, what);
    }

    /** The runs that schedules have started, oldest first. */
    static List<RunInfo> fired(PerdureTest perdure) {
        return perdure.runs(RunFilter.all().limit(1_000)).list().reversed().stream()
                .filter(run -> !run.definition().startsWith("perdure."))
                .toList();
    }

    static List<String> ids(PerdureTest perdure) {
        return fired(perdure).stream().map(run -> run.id().value()).toList();
    }

    static long in(PerdureTest perdure, RunState state) {
        return fired(perdure).stream().filter(run -> run.state() == state).count();
    }

    static String id(String schedule, Instant time) {
        return schedule + "@" + time;
    }

    static void go(PerdureTest perdure, int number) {
        perdure.send(fired(perdure).get(number).id(), GO, "on");
        perdure.settle();
    }
}
