package dev.perdure.simulation.scene;

import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.TypeRef;
import dev.perdure.error.UnknownRunException;
import dev.perdure.error.UnknownVersionException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;

/** Cancels, kills, pauses and resumes runs of the other scenes at random, and drains a version of the workers. */
public final class Operator implements Scene {
    /** The reason of its commands. It resumes whatever it pauses. */
    public static final String REASON = "the operator says so";

    /** Workers notice a drain within a quarter of their lease. */
    private static final Duration NOTICED = Duration.ofSeconds(1);

    private final Cast cast;

    /** For one history. */
    public Operator(Cast cast) {
        this.cast = cast;
    }

    @Override
    public void register() {}

    @Override
    public void play() {
        int commands = (int) cast.choices().between(1, 4);
        for (int i = 0; i < commands; i++) {
            cast.pauseUpTo(Duration.ofMillis(100));
            if (cast.choices().oneIn(8)) {
                drain(cast.choices().oneIn(2) ? "v1" : "v2");
                continue;
            }
            List<RunInfo> runs = cast.perdure().runs(RunFilter.all()).list().stream()
                    .sorted(Comparator.comparing(run -> run.id().value()))
                    .toList();
            List<RunState> states = runs.stream()
                    .map(RunInfo::state)
                    .filter(state -> !state.isTerminal())
                    .distinct()
                    .sorted()
                    .toList();
            RunState state = states.isEmpty() || cast.choices().oneIn(3)
                    ? null
                    : cast.choices().pick(states);
            List<RunInfo> from = runs.stream()
                    .filter(run -> state == null || run.state() == state)
                    .toList();
            if (!from.isEmpty()) {
                command(cast.choices().pick(from).id());
            }
        }
    }

    private void command(RunId id) {
        // The listener waits for the speaker for ever.
        boolean harmless = id.value().equals("speaker");
        switch (harmless ? 2 : cast.choices().pick(5)) {
            case 0 -> cancel(id);
            case 1 -> kill(id);
            default -> {
                send(id, run -> run.pause(REASON));
                cast.pauseUpTo(Duration.ofMillis(200));
                switch (harmless ? 2 : cast.choices().pick(6)) {
                    case 0 -> cancel(id);
                    case 1 -> kill(id);
                    default -> {}
                }
                send(id, Run::resume);
            }
        }
    }

    /** Drains a version, maybe twice and faster than its workers notice it, and resumes it. */
    private void drain(String version) {
        cast.call(perdure -> {
            try {
                perdure.versions().drain(version);
                cast.pauseUpTo(NOTICED);
                if (cast.choices().oneIn(2)) {
                    perdure.versions().resume(version);
                    cast.pauseUpTo(NOTICED);
                    perdure.versions().drain(version);
                }
                boolean drained = false;
                for (int i = 0; i < 5; i++) {
                    drained |= cast.store().versions().isDrained(version);
                    cast.pauseUpTo(NOTICED);
                    if (drained && hasRuns(version)) {
                        cast.fail("Version %s was drained, and now it has runs.".formatted(version));
                    }
                }
            } catch (UnknownVersionException gone) {
                cast.pause(); // no worker of it lives at the moment
            }
            perdure.versions().resume(version);
        });
    }

    private boolean hasRuns(String version) {
        return cast.store().versions().list().stream()
                .anyMatch(info -> info.name().equals(version) && info.runs() > 0);
    }

    private void send(RunId id, Consumer<Run<Object>> command) {
        cast.call(perdure -> {
            try {
                command.accept(perdure.run(id, TypeRef.of(Object.class)));
            } catch (UnknownRunException removed) {
                cast.pause(); // its retention is over
            }
        });
    }

    private void cancel(RunId id) {
        send(id, run -> run.cancel(REASON));
    }

    private void kill(RunId id) {
        cast.killed(id);
        send(id, run -> run.kill(REASON));
    }

    @Override
    public void check() {}
}
