package dev.perdure.benchmarks.measure;

import java.util.Locale;

/** Who is measured. */
public enum Who {
    RAW("the database alone"),
    PERDURE("Perdure: 9 connections in all, those that listen included"),
    DBOS("DBOS Java 1.1.0-m6: its own pools of 10 connections, 1 s poll"),
    DBSCHEDULER("db-scheduler 16.12.0: lock-and-fetch, 50 threads, pools of 50 and, to start, 10 connections"),
    JOBRUNR("JobRunr 8.7.0: virtual threads, 15 s poll, pools of 10 connections each");

    private final String description;

    Who(String description) {
        this.description = description;
    }

    /** With how it is set up. */
    public String description() {
        return description;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
