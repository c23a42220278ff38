package dev.perdure.internal.join;

/** A future that can be joined with other futures of its run. */
public interface Joinable {
    /** The joins of its run. */
    Joins joins();
}
