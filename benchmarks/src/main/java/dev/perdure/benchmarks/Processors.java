package dev.perdure.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;

/**
 * The processor time since the machine was started, as Linux counts it: the total, and the time that the hypervisor
 * gave to other virtual machines ("steal").
 *
 * @param all the total, in ticks
 * @param stolen the stolen time, in ticks
 */
record Processors(long all, long stolen) {
    private static final Path STAT = Path.of("/proc/stat");

    /**
     * How many numbers of the line to add up. The last of them is the stolen time; those after it are contained in the
     * others.
     */
    private static final int COUNTED = 8;

    /** The counters now; empty on a system without them. */
    static Optional<Processors> now() throws IOException {
        return Files.isReadable(STAT)
                ? Files.readAllLines(STAT).stream().findFirst().flatMap(Processors::parse)
                : Optional.empty();
    }

    static Optional<Processors> parse(String line) {
        if (!line.matches("cpu( +[0-9]+){" + COUNTED + "}.*")) {
            return Optional.empty();
        }
        long[] ticks = Arrays.stream(line.split(" +"))
                .skip(1)
                .limit(COUNTED)
                .mapToLong(Long::parseLong)
                .toArray();
        return Optional.of(new Processors(Arrays.stream(ticks).sum(), ticks[COUNTED - 1]));
    }

    /** The share of stolen time since then, from 0 to 1. */
    double stolenSince(Processors before) {
        return (double) (stolen - before.stolen) / Math.max(1, all - before.all);
    }
}
