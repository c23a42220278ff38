package dev.perdure.http.security;

/** What a caller may do. Each role may do what the roles before it may. */
public enum Role {
    /** Reads. */
    VIEWER,
    /** Starts, messages and calls, and commands runs, queues, schedules and limiters. */
    OPERATOR,
    /** Deletes runs and schedules, and changes the retention. */
    ADMIN;

    /** Whether it may do what this role may. */
    public boolean includes(Role other) {
        return compareTo(other) >= 0;
    }
}
