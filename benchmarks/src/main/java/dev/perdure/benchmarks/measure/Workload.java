package dev.perdure.benchmarks.measure;

import java.util.Locale;

/** What is measured. */
public enum Workload {
    RAW("single-row insert commits at 1, 8 and 32 clients; rows in batches of 1,000"),
    W1("workflows of one no-op step from 1 to 1,000 callers, result awaited"),
    W2("workflows of many no-op steps: 1,000 in a row, 64 × 100, 1,000 × 100"),
    W3("started in one process, run in another: latency; 20,000 queued, drained by one worker"),
    W4("1,000 to 1,000,000 sleepers: starts, heap, threads and disk of each, and all awake at once"),
    W5("2,000 runs with five steps done, the process killed and restarted: until all are finished"),
    W6("graphs of ten no-op tasks, a fan-out of four and two joins: one alone, 1,000 at once"),
    W7("growth: w1 at 64 callers and w2's 64 × 100, on an empty database and on 5,000,000 finished runs"),
    W8("journal length: to resume a run with 10, 1,000 and 100,000 entries"),
    OBJECTS("exclusive calls of virtual objects that count in their state, from 256 callers: one key, 1,000 keys"),
    FOOTPRINT("connections, platform threads, heap at rest and per active run");

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
