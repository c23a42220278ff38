package dev.perdure.internal.join;

/** A future that knows how to be joined with others of its run. */
public interface Joinable {
    /** The joins of its run. */
    Joins joins();
}
