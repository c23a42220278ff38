package dev.perdure.testing.internal.simulation;

/** What can go wrong in a history. */
public enum Fault {
    /** The store refuses a call, as PostgreSQL does with 40001 or a deadlock: nothing of it is applied. */
    REFUSED("the store refuses it"),
    /**
     * The store refuses to be read, as PostgreSQL does while rights are missing: it is of no use to ask again at once.
     */
    READ_REFUSED("the store refuses to be read"),
    /** The store applies a call, and the answer is lost. */
    ANSWER_LOST("the answer is lost"),
    /** The caller gives up; the store gets the call later and applies it, unless the lane was used since. */
    LATE("the caller gives up, and the call arrives late"),
    /** A call or its answer takes seconds. */
    SLOW("it takes seconds"),
    /** The process dies before the store gets its call. */
    KILLED_BEFORE("the process dies before the store gets it"),
    /** The process dies after the store has applied its call. */
    KILLED_AFTER("the process dies after the store has applied it"),
    /** The process dies in the middle of user code. */
    KILLED_IN_BODY("the process dies in user code"),
    /** The process stands still, for up to three leases, and then continues. */
    FROZEN("the process stands still"),
    /** The worker closes in an orderly way, and another one starts. */
    CLOSED("the worker closes"),
    /** The lease of a worker is not renewed although the worker is alive. */
    RENEWAL_MISSED("the renewal does not get through"),
    /** The store takes a worker for dead that lives, as if its connections had been closed for a while. */
    TAKEN_FOR_DEAD("the store takes the process for dead"),
    /** A claim takes some of the ready runs only, as if others were locked. */
    SKIPPED("the claim skips runs"),
    /** A hint does not arrive. */
    HINT_LOST("the hint is lost"),
    /** A hint arrives twice. */
    HINT_DOUBLED("the hint arrives twice"),
    /** A hint arrives seconds later. */
    HINT_LATE("the hint arrives late"),
    /** The clock of a process differs from the others, and runs slower or faster. */
    CLOCK("the clock of the process is wrong");

    private final String words;

    Fault(String words) {
        this.words = words;
    }

    /** Whether it is one of the few that a history may have; the others are small and many. */
    boolean counts() {
        return switch (this) {
            case SKIPPED, HINT_LOST, HINT_DOUBLED, HINT_LATE, CLOCK -> false;
            default -> true;
        };
    }

    /**
     * Whether it can hit a commit, or be there when a commit is made. The others hit a body, a claim, a question and a
     * lease.
     */
    public boolean hitsCommits() {
        return this != KILLED_IN_BODY && this != SKIPPED && this != READ_REFUSED && this != TAKEN_FOR_DEAD;
    }

    /** What happens, for the timeline. */
    public String words() {
        return words;
    }
}
