package dev.perdure.benchmarks.measure;

import java.util.List;
import java.util.Locale;

/** The systems that the benchmark compares. */
public enum Contender {
    RAW("the database alone"),
    PERDURE("Perdure as its README sets it up: a HikariCP pool and the driver, both with their defaults"),
    /** Perdure once more, with what a user can set without changing code. */
    TUNED(
            "the same, tuned for a database on the same machine: half as many carriers of virtual threads as processors",
            "-Djdk.virtualThreadScheduler.parallelism="
                    + Math.max(1, Runtime.getRuntime().availableProcessors() / 2)),
    DBOS("DBOS Java 1.1.0-m6: its own pools of 10 connections, 1 s poll"),
    DBSCHEDULER("db-scheduler 16.12.0: lock-and-fetch, 50 threads, a pool of 50 connections, and one of 10 for starts"),
    JOBRUNR("JobRunr 8.7.0: virtual threads, 15 s poll, two pools of 10 connections");

    private final String description;
    private final List<String> options;

    Contender(String description, String... options) {
        this.description = description;
        this.options = List.of(options);
    }

    /** The options of its JVMs, in addition to those that all have. */
    public List<String> options() {
        return options;
    }

    /** The version and the set-up. */
    public String description() {
        return description;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
