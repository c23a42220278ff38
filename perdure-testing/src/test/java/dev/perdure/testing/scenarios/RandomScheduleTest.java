package dev.perdure.testing.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.RunFilter;
import dev.perdure.schedule.CatchUp;
import dev.perdure.schedule.Overlap;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.Times;
import dev.perdure.testing.PerdureTest;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random lives of a schedule in virtual time: what it fires is compared with a simple model. In half of them the runs end
 * at once, and no worker is there at times; in the others the runs take their time, and a worker is always there.
 */
class RandomScheduleTest extends Scenarios implements InMemory {
    private static final ZoneId UTC = ZoneId.of("UTC");
    private static final Instant BEGIN = Instant.parse("2030-01-01T20:00:00Z");
    private static final String NAME = "s";

    /** Seconds at which nothing fires and no run ends. */
    private static final int COMMANDS_AT = 42;

    private static final int WORKERS_AT = 53;

    private static final int FEW = 20;

    /** That of runs that end at once and cancel each other depends on which is first, so it is left out there. */
    private static final List<Overlap> OVERLAPS =
            List.of(Overlap.ALLOW, Overlap.ALLOW, Overlap.SKIP, Overlap.WAIT, Overlap.WAIT_ALL, Overlap.CANCEL);

    /** What the schedule is. */
    private record Settings(Duration period, List<LocalDate> excluded, Overlap overlap, CatchUp catchUp) {
        static Settings any(Random random, boolean ends) {
            boolean often = ends && random.nextInt(3) == 0;
            List<LocalDate> excluded = random.nextInt(3) == 0 || often
                    ? List.of(LocalDate.of(2030, 1, 2), LocalDate.of(2030, 1, 3 + random.nextInt(3)))
                    : List.of();
            return new Settings(
                    often ? Duration.ofSeconds(5) : Duration.ofMinutes(1 + random.nextInt(3) * random.nextInt(9)),
                    excluded,
                    OVERLAPS.get(random.nextInt(ends ? 5 : 6)),
                    switch (random.nextInt(4)) {
                        case 0 -> CatchUp.none();
                        case 1 -> CatchUp.last();
                        default -> CatchUp.all(Duration.ofMinutes(1 + random.nextInt(often ? 30 : 150)));
                    });
        }

        Schedule of(Definition<String, String> what) {
            Times times = Times.every(period).except(UTC, excluded.toArray(LocalDate[]::new));
            return Schedule.of(NAME, times, Invocation.of(what, "in"))
                    .from(BEGIN)
                    .overlap(overlap)
                    .catchUp(catchUp);
        }

        /** The fire times after one instant and up to another, counted one by one. */
        List<Instant> between(Instant after, Instant to) {
            List<Instant> all = new ArrayList<>();
            for (Instant time = BEGIN; !time.isAfter(to); time = time.plus(period)) {
                if (time.isAfter(after) && !excluded.contains(time.atZone(UTC).toLocalDate())) {
                    all.add(time);
                }
            }
            return all;
        }

        Instant next(Instant after) {
            Instant time = BEGIN;
            while (!time.isAfter(after) || excluded.contains(time.atZone(UTC).toLocalDate())) {
                time = time.plus(period);
            }
            return time;
        }
    }

    /** What a schedule should do: in the order of time, one thing after another. */
    private static final class Model {
        private final Duration takes;
        private final TreeSet<String> fired = new TreeSet<>();
        private final List<Instant> waiting = new ArrayList<>();
        private final List<Instant> ends = new ArrayList<>();
        private int triggered;
        private Settings settings;
        private boolean paused;
        private boolean hasStarted;
        private Instant decided = BEGIN.minusSeconds(1);

        Model(Duration takes, Settings settings) {
            this.takes = takes;
            this.settings = settings;
        }

        private void start(Instant time, Instant at) {
            hasStarted = true;
            fired.add(NAME + "@" + time);
            if (!takes.isZero()) {
                ends.add(at.plus(takes));
            }
        }

        /** Runs end, and what waits for them begins. */
        private void endUntil(Instant time) {
            while (!ends.isEmpty() && !ends.getFirst().isAfter(time)) {
                Instant end = ends.removeFirst();
                if (ends.isEmpty() && !waiting.isEmpty() && !paused) {
                    start(waiting.removeFirst(), end);
                }
                ends.sort(Comparator.naturalOrder());
            }
        }

        /** What was missed is decided about in one turn, so that only the first of several begins in it. */
        private void fire(Instant time) {
            endUntil(time);
            if (ends.isEmpty()) {
                if (hasStarted && settings.overlap() != Overlap.ALLOW) {
                    waiting.add(time);
                } else {
                    start(time, time);
                }
                return;
            }
            switch (settings.overlap()) {
                case ALLOW -> start(time, time);
                case SKIP -> {}
                case WAIT -> {
                    if (waiting.isEmpty()) {
                        waiting.add(time);
                    }
                }
                case WAIT_ALL -> waiting.add(time);
                case CANCEL -> {
                    ends.clear();
                    waiting.clear();
                    start(time, time);
                }
            }
        }

        /** The fire times up to here, decided about at this time. */
        void due(Instant to, Instant now) {
            List<Instant> due = settings.between(decided, to);
            if (!due.isEmpty() && !paused) {
                switch (settings.catchUp().kind()) {
                    case NONE -> {
                        if (!due.getLast().isBefore(now.minus(Duration.ofMinutes(1)))) {
                            fire(due.getLast());
                        }
                    }
                    case LAST -> fire(due.getLast());
                    case ALL ->
                        due.stream()
                                .filter(time -> !time.isBefore(
                                        now.minus(settings.catchUp().within().orElseThrow())))
                                .forEach(this::fire);
                }
            }
            decided = due.isEmpty() || due.getLast().isBefore(decided) ? decided : due.getLast();
        }

        /** While a worker is there, each fire time is decided about when it comes. */
        void onTime(Instant to) {
            settings.between(decided, to).forEach(time -> {
                due(time, time);
                turned(time);
            });
            endUntil(to);
        }

        /** A turn is over: what waits begins, if nothing else is at work. */
        void turned(Instant at) {
            hasStarted = false;
            while (!paused && !waiting.isEmpty() && ends.isEmpty()) {
                start(waiting.removeFirst(), at);
            }
            hasStarted = false;
        }

        void timesChanged(Instant at) {
            decided = decided.isBefore(at) ? at : decided;
        }
    }

    /** A command that was given while no worker was there. */
    private record Command(Instant at, int kind, Settings settings) {}

    private static void obey(Model model, Command command) {
        switch (command.kind()) {
            case 0 -> {
                model.triggered++;
                model.hasStarted = true;
            }
            case 1 -> model.paused = true;
            case 2 -> {
                if (model.paused) {
                    model.paused = false;
                    model.timesChanged(command.at());
                }
            }
            case 3 -> {
                if (!command.settings().equals(model.settings)) {
                    model.settings = command.settings();
                    model.timesChanged(command.at());
                }
            }
            case 4 -> model.decided = model.settings.next(model.decided);
            case 5 -> {
                model.settings = command.settings();
                model.paused = false;
                model.decided = command.at();
                model.waiting.clear();
                model.hasStarted = false;
            }
            default -> throw new AssertionError(command);
        }
    }

    /** A command that changes nothing is not sent, unless others have not been read. */
    private static boolean changes(Model model, Command command) {
        return switch (command.kind()) {
            case 1 -> !model.paused;
            case 2 -> model.paused;
            case 3 -> !command.settings().equals(model.settings);
            default -> true;
        };
    }

    private static void give(PerdureTest perdure, Definition<String, String> work, Command command) {
        switch (command.kind()) {
            case 0 -> perdure.client().schedules().trigger(NAME);
            case 1 -> perdure.client().schedules().pause(NAME, "for a while");
            case 2 -> perdure.client().schedules().resume(NAME);
            case 3 -> perdure.client().schedules().put(command.settings().of(work));
            case 4 -> perdure.client().schedules().skipNext(NAME);
            case 5 -> {
                perdure.client().schedules().delete(NAME);
                perdure.client().schedules().put(command.settings().of(work));
            }
            default -> throw new AssertionError(command);
        }
    }

    private static Instant to(PerdureTest perdure, Instant minute, int second) {
        Instant time = minute.truncatedTo(ChronoUnit.MINUTES).plusSeconds(second);
        if (time.isAfter(perdure.now())) {
            perdure.advance(Duration.between(perdure.now(), time));
        }
        return perdure.now();
    }

    /** A life of a schedule. Returns what it fired in the engine and in the model. */
    private static List<List<String>> live(long seed) {
        Random random = new Random(seed);
        boolean ends = random.nextBoolean();
        Duration takes = ends
                ? Duration.ZERO
                : Duration.ofMinutes(7 + random.nextInt(30)).plusSeconds(1);
        Definition<String, String> work = workflow("work", (ctx, in) -> {
            ctx.sleep(takes);
            return in;
        });
        Definition<String, String> atOnce = workflow("at once", (ctx, in) -> in);
        Definition<String, String> what = ends ? atOnce : work;
        try (PerdureTest perdure = PerdureTest.create()) {
            perdure.register(work, atOnce);
            perdure.settle();
            to(perdure, BEGIN.minus(Duration.ofMinutes(1)), 30);
            Model model = new Model(takes, Settings.any(random, ends));
            perdure.schedules().put(model.settings.of(what));
            perdure.settle();
            Optional<List<Command>> away = Optional.empty();
            for (int step = 0; step < 12; step++) {
                int far = random.nextInt(3) == 0 && away.isPresent() ? 60 * random.nextInt(30) : random.nextInt(40);
                boolean often = model.settings.period().compareTo(Duration.ofMinutes(1)) < 0;
                Instant minute = perdure.now().plus(Duration.ofMinutes(often && away.isEmpty() ? far % 5 : far));
                if (ends && random.nextInt(3) == 0) {
                    Instant now = to(perdure, minute, WORKERS_AT);
                    if (away.isEmpty()) {
                        model.onTime(now);
                        perdure.crashAll();
                        away = Optional.of(new ArrayList<>());
                    } else {
                        back(perdure, model, away.get(), now);
                        away = Optional.empty();
                    }
                    continue;
                }
                Instant now = to(perdure, minute, COMMANDS_AT);
                int kind = random.nextInt(ends ? 6 : 5);
                Command command = new Command(now, kind == 0 && !ends ? 1 : kind, Settings.any(random, ends));
                if (away.isEmpty()) {
                    model.onTime(now);
                    obey(model, command);
                    model.turned(now);
                } else if (!away.get().isEmpty() || changes(model, command)) {
                    away.get().add(command);
                }
                give(perdure, what, command);
                perdure.settle();
            }
            Instant end = to(perdure, perdure.now().plus(Duration.ofMinutes(5)), WORKERS_AT);
            if (away.isPresent()) {
                back(perdure, model, away.get(), end);
            }
            model.onTime(end);
            List<String> all = perdure
                    .runs(RunFilter.all().definition(what.name()).limit(10_000))
                    .list()
                    .stream()
                    .map(run -> run.id().value())
                    .toList();
            return List.of(
                    all.stream().filter(id -> !id.contains("!")).sorted().toList(),
                    List.copyOf(model.fired),
                    List.of("triggered "
                            + all.stream().filter(id -> id.contains("!")).count()),
                    List.of("triggered " + model.triggered));
        }
    }

    private static void back(PerdureTest perdure, Model model, List<Command> commands, Instant now) {
        for (Command command : commands) {
            model.due(command.at(), now);
            obey(model, command);
        }
        model.due(now, now);
        model.turned(now);
        perdure.startWorker();
        perdure.settle();
    }

    private static void live(int from, int to) {
        assertThat(IntStream.range(from, to).boxed().flatMap(seed -> differences(seed).stream()))
                .isEmpty();
    }

    private static List<String> differences(int seed) {
        List<List<String>> fired = live(seed);
        List<String> differences = new ArrayList<>();
        fired.get(0).stream()
                .filter(id -> !fired.get(1).contains(id))
                .findFirst()
                .ifPresent(id -> differences.add("seed %d: fires %s".formatted(seed, id)));
        fired.get(1).stream()
                .filter(id -> !fired.get(0).contains(id))
                .findFirst()
                .ifPresent(id -> differences.add("seed %d: does not fire %s".formatted(seed, id)));
        if (!fired.get(2).equals(fired.get(3))) {
            differences.add("seed %d: %s instead of %s".formatted(seed, fired.get(2), fired.get(3)));
        }
        return differences;
    }

    @Test
    void a_schedule_fires_what_a_simple_model_says() {
        live(0, FEW);
        live(91, 92); // commands while more is due than a turn starts
    }

    @Test
    @Tag("thorough")
    void many_schedules_fire_what_a_simple_model_says() {
        live(FEW, 600);
    }
}
