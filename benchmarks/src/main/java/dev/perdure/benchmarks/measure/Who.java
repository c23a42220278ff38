package dev.perdure.benchmarks.measure;

import java.util.Locale;

/** Who is measured. */
public enum Who {
    RAW("the database alone"),
    PERDURE("Perdure: a pool of 9 connections, of which 1 listens"),
    DBOS("DBOS Java 1.1.0-m6: its own pool of 10 connections"),
    DBSCHEDULER("db-scheduler 16.12.0"),
    JOBRUNR("JobRunr 8.7.0");

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
