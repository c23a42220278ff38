package dev.perdure.benchmarks.measure;

import java.util.Locale;

/** The systems that the benchmark compares. */
public enum Contender {
    RAW("the database alone"),
    PERDURE("Perdure: 9 connections in total, including those that listen"),
    DBOS("DBOS Java 1.1.0-m6: its own pools of 10 connections, 1 s poll"),
    DBSCHEDULER("db-scheduler 16.12.0: lock-and-fetch, 50 threads, a pool of 50 connections, and one of 10 for starts"),
    JOBRUNR("JobRunr 8.7.0: virtual threads, 15 s poll, two pools of 10 connections");

    private final String description;

    Contender(String description) {
        this.description = description;
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
