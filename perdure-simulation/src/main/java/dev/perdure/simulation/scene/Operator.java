package dev.perdure.simulation.scene;

import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.TypeRef;
import dev.perdure.error.UnknownRunException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;

/** Cancels, kills, pauses and resumes runs of the other scenes at random. */
public final class Operator implements Scene {
    /** The reason of its commands. It resumes whatever it pauses. */
    public static final String REASON = "the operator says so";

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
