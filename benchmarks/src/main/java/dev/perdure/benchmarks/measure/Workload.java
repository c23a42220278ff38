package dev.perdure.benchmarks.measure;

import java.util.Locale;

/** What is measured. */
public enum Workload {
    RAW("single-row insert commits at 1, 8 and 32 clients; rows in batches of 1,000"),
    W1("workflows of one no-op step from 1 to 1,000 callers, result awaited"),
    W2("workflows of many no-op steps: 1,000 in a row, 64 × 100, 1,000 × 100");

    private final String description;

    Workload(String description) {
        this.description = description;
    }

    public String description() {
        return description;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
