package dev.perdure.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;

/**
 * The processors' time since the machine was started, as Linux counts it: all of it, and what a virtual machine was to have and others got.
 *
 * @param all in ticks
 * @param stolen in ticks
 */
record Processors(long all, long stolen) {
    private static final Path STAT = Path.of("/proc/stat");

    /** After how many of the line's numbers, the last of which is what was stolen, the rest is counted a second time. */
    private static final int COUNTED = 8;

    /** Nothing where it is not counted. */
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

    /** The share that others got since then, from 0 to 1. */
    double stolenSince(Processors before) {
        return (double) (stolen - before.stolen) / Math.max(1, all - before.all);
    }
}
