package dev.perdure.internal.engine;

import dev.perdure.RunId;
import dev.perdure.internal.schedule.ScheduleNames;
import dev.perdure.schedule.Schedule;
import dev.perdure.spi.Runs;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * What is stored of the schedules that the code declares, one after another in the order in which stores list runs. Each
 * is read with those behind it, so that thousands take a few queries, and one takes one.
 */
final class StoredSchedules {
    private static final int PAGE = 500;

    private final Runs runs;
    private final List<Schedule> schedules;
    private int next;
    private Map<RunId, Runs.Latest> page = Map.of();
    private byte[] end = {};
    private boolean hasAll;

    StoredSchedules(Runs runs, List<Schedule> schedules) {
        this.runs = runs;
        this.schedules = schedules.stream()
                .sorted(Comparator.comparing(
                        schedule -> bytes(ScheduleNames.run(schedule.name())), Arrays::compareUnsigned))
                .toList();
    }

    private static byte[] bytes(RunId run) {
        return run.value().getBytes(StandardCharsets.UTF_8);
    }

    List<Schedule> inOrder() {
        return schedules;
    }

    /** The run of the next one, if it is there. */
    Optional<Runs.Latest> next() {
        RunId run = ScheduleNames.run(schedules.get(next).name());
        next++;
        if (hasAll || Arrays.compareUnsigned(bytes(run), end) <= 0) {
            return Optional.ofNullable(page.get(run));
        }
        Optional<Runs.Latest> found = runs.latest(run);
        int most = Math.min(schedules.size() - next, PAGE);
        if (most > 0) {
            List<Runs.Latest> behind = runs.latest(ScheduleNames.PREFIX, run.value(), most);
            page = behind.stream()
                    .collect(Collectors.toMap(latest -> latest.run().id(), Function.identity()));
            hasAll = behind.size() < most;
            end = hasAll ? end : bytes(behind.getLast().run().id());
        }
        return found;
    }
}
