package dev.perdure.schedule;

/** What happens at a fire time if a run that the schedule started before has not ended. */
public enum Overlap {
    /** No run is started for this time. The default. */
    SKIP,
    /** One fire time waits until the run has ended. Those that come while one waits are skipped. */
    WAIT,
    /** Every fire time waits until the runs before it have ended, up to 1,000 of them. */
    WAIT_ALL,
    /**
     * The run is cancelled, and the next one is started when it has ended. Of several fire times the last one counts.
     */
    CANCEL,
    /** The next one is started at once, beside the others. */
    ALLOW
}
