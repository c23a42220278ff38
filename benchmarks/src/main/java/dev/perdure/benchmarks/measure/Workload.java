package dev.perdure.benchmarks.measure;

import java.util.Locale;

/** The workloads of the benchmark. */
public enum Workload {
    RAW("single-row insert commits at 1, 8 and 32 clients; rows in batches of 1,000"),
    W1("workflows of one no-op step from 1 to 1,000 callers, result awaited"),
    W2("workflows of many no-op steps: 1,000 in a row, 64 × 100, 1,000 × 100"),
    W3("jobs started in one process and run in another: latency, and the rate at which one worker drains 20,000"),
    W4("1,000 to 1,000,000 sleeping workflows: start rate, heap, threads and disk per sleeper, wake rate"),
    W5("2,000 runs after five steps: the process is killed and restarted; time until all are finished"),
    W6("DAGs of ten no-op tasks with a fan-out of four and two joins: one, and 1,000 concurrently"),
    W7(
            "growth: w1 with 64 callers, w2's 64 × 100, claims, lists and histories, in an empty database and with 20,000,000 finished runs"),
    W8("journal length: time to resume a run with 10, 1,000 and 100,000 entries"),
    OBJECTS("exclusive calls of counters as virtual objects, from 256 callers: one key, 1,000 keys"),
    WORKERS("several workers: jobs drained, and one-step workflows of 64 callers, by 1, 2, 4 and 8 processes"),
    QUEUES(
            "queues with limits: drain with 64 at once, and with two of each of 1,000 keys; a rate of 1,000/s; a new key beside 100,000 runs of another; another queue beside 1,000,000 runs that may not begin"),
    SCHEDULES(
            "schedules: 10,000 that are due at the same instant; 1,000 that are spread over a minute; 100,000 that wait"),
    RETENTION("retention: 2,000,000 runs of ten no-op steps, removed a minute after their end; sizes of all tables"),
    REMOVAL("removal of old rows on the database alone: deletes in batches, partitions that are dropped or detached"),
    METRICS(
            "what metrics and the MDC cost: processor time of w1 with 64 callers and of w2's 64 × 100, with and without"),
    SHARDS(
            "several shards: processor time of w1 with 64 callers on two shards, relative to one; commits of a message to a run of another shard"),
    FOOTPRINT("connections, platform threads, heap of an idle engine and per active run");

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
