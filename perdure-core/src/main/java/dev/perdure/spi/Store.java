package dev.perdure.spi;

/**
 * Where runs live. Each role is small and has its own part of the conformance suite. Thread-safe. No method runs user
 * code, and none holds anything between two calls.
 */
public interface Store extends AutoCloseable {
    /** Changes. */
    Ledger ledger();

    /** Workers and their leases. */
    Leases leases();

    /** Work to do. */
    Dispatch dispatch();

    /** What runs have done. */
    Journals journals();

    /** What arrives for runs, and what they show. */
    Mailboxes mailboxes();

    /** What virtual objects know. */
    States states();

    /** Questions. */
    Runs runs();

    /** That it may be worth looking. */
    Hints hints();

    /** How many batches it is worth sending at once: one lane, and in a database one connection, for each. */
    int lanes();

    /** Frees what the store itself holds. Twice is fine. */
    @Override
    void close();
}
