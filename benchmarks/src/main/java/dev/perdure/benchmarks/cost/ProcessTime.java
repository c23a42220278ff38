package dev.perdure.benchmarks.cost;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The processor time of a process with one thread, as Linux counts it, in nanoseconds.
 *
 * @param parent the pid of its parent
 * @param endedChildren the processor time of its children that have ended, in steps of a tick
 */
record ProcessTime(long parent, double own, double endedChildren) {
    /** The length of a tick in the kernel's interface, on every architecture with a JDK. */
    private static final double NANOS_PER_TICK = 1e9 / 100;

    static Path folder(long pid) {
        return Path.of("/proc", Long.toString(pid));
    }

    static ProcessTime of(long pid) throws IOException {
        ProcessTime ticks = parse(Files.readString(folder(pid).resolve("stat"), StandardCharsets.ISO_8859_1));
        Path exact = folder(pid).resolve("schedstat");
        return Files.isReadable(exact) ? ticks.withOwn(exact(Files.readString(exact))) : ticks;
    }

    /** Parses the line of {@code /proc/<pid>/stat}. The name, in parentheses, may contain spaces and parentheses. */
    static ProcessTime parse(String stat) {
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        double own = Double.parseDouble(fields[11]) + Double.parseDouble(fields[12]);
        double ended = Double.parseDouble(fields[13]) + Double.parseDouble(fields[14]);
        return new ProcessTime(Long.parseLong(fields[1]), own * NANOS_PER_TICK, ended * NANOS_PER_TICK);
    }

    /**
     * Parses the line of {@code /proc/<pid>/schedstat}, which begins with nanoseconds. Ticks are too coarse: in a
     * round, a process may use only a few.
     */
    private static double exact(String schedstat) {
        return Double.parseDouble(schedstat.substring(0, schedstat.indexOf(' ')));
    }

    private ProcessTime withOwn(double nanos) {
        return new ProcessTime(parent, nanos, endedChildren);
    }
}
