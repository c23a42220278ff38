package dev.perdure.spi.change;

/**
 * The kinds of runs that are started on behalf of another run. {@link Setting} says which settings each of them
 * inherits. The last four are no other runs: they are the same run, as it goes on.
 */
public enum StartedFor {
    /** A child: {@code startChild}, {@code call}, and a call of a virtual object. */
    CHILD("child"),
    /** A run that another one starts and does not wait for. */
    SPAWN("spawned run"),
    /** A task of a DAG. */
    TASK("task"),
    /** The run of one item of a task of a DAG. */
    ITEM("item of a task"),
    /** What a DAG starts at its end: {@code onFailure} or {@code onSuccess}. */
    HANDLER("onFailure, onSuccess"),
    /** What a reaction starts. */
    REACTION("reaction"),
    /** What a schedule starts: at its times, by hand, as a backfill, and when it pauses. */
    FIRE("run of a schedule"),
    /** A run with what another one has recorded. */
    FORK("fork"),
    /** A run that continues from the call that failed. */
    RETRY("retry"),
    /** A run that begins anew under its id. */
    RERUN("rerun"),
    /** The next life of a run. */
    CONTINUE_AS_NEW("continue-as-new"),
    /** A run that waits, after a later start under its debounce key. The settings are those of the first start. */
    DEBOUNCE("debounced run");

    private final String title;

    StartedFor(String title) {
        this.title = title;
    }

    /** What the documentation calls it. */
    public String title() {
        return title;
    }
}
