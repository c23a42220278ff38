package dev.perdure.simulation.scene;

import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.TypeRef;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;

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
            List<RunId> runs = cast.perdure().list(RunFilter.all()).stream()
                    .map(RunInfo::id)
                    .sorted(Comparator.comparing(RunId::value))
                    .toList();
            if (!runs.isEmpty()) {
                command(cast.choices().pick(runs));
            }
        }
    }

    private void command(RunId id) {
        Run<Object> run = cast.perdure().run(id, TypeRef.of(Object.class));
        // The listener waits for the speaker for ever.
        switch (id.value().equals("speaker") ? 2 : cast.choices().pick(5)) {
            case 0 ->
                cast.call(perdure -> perdure.run(id, TypeRef.of(Object.class)).cancel(REASON));
            case 1 -> {
                cast.killed(id);
                cast.call(perdure -> perdure.run(id, TypeRef.of(Object.class)).kill(REASON));
            }
            default -> {
                run.pause(REASON);
                cast.pauseUpTo(Duration.ofMillis(200));
                run.resume();
            }
        }
    }

    @Override
    public void check() {}
}
