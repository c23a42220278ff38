package dev.perdure.testing.internal.simulation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

/** The events of a history, line by line. Keeps nothing unless requested, because most histories do not fail. */
public final class Timeline {
    private final boolean keeps;
    private final List<String> lines = new ArrayList<>();

    private Timeline(boolean keeps) {
        this.keeps = keeps;
    }

    /** Keeps all lines. */
    public static Timeline kept() {
        return new Timeline(true);
    }

    /** Keeps none. */
    public static Timeline forgotten() {
        return new Timeline(false);
    }

    /** Whether lines are kept, so that describing an event is worthwhile. */
    public boolean keeps() {
        return keeps;
    }

    void add(Scheduler scheduler, String process, Supplier<String> text) {
        if (keeps) {
            lines.add(String.format(
                    Locale.ROOT, "%12s  %-10s %s", seconds(Duration.ofNanos(scheduler.wall())), process, text.get()));
        }
    }

    private static String seconds(Duration time) {
        return String.format(Locale.ROOT, "%s.%05d s", time.toSeconds(), time.toNanosPart() / 10_000);
    }

    /** The lines so far. */
    public List<String> lines() {
        return List.copyOf(lines);
    }
}
