package dev.perdure.status;

/**
 * Something that is wrong with the store, or keeps the store from seeing whether something is.
 *
 * @param kind what kind of trouble it is
 * @param what what is wrong, with the names and numbers
 * @param remedy what to do
 */
public record Finding(Kind kind, String what, String remedy) {
    /** What kind of trouble it is. */
    public enum Kind {
        /** Runs are ready, and no worker is alive. */
        NO_WORKER,
        /** A transaction has been open for so long that vacuum cannot remove what was deleted since. */
        LONG_TRANSACTION,
        /** A prepared transaction was left behind; it holds vacuum up, and its locks, until somebody ends it. */
        PREPARED_TRANSACTION,
        /** Autovacuum is off, for the server or for a table. */
        AUTOVACUUM_OFF,
        /** Most rows of a table are dead: vacuum does not keep up. */
        DEAD_ROWS,
        /** Most of a table is free space, which vacuum does not give back. */
        BLOAT,
        /** A replication slot that nobody reads keeps the write-ahead log from being removed. */
        REPLICATION_SLOT,
        /** The schema has migrations that this version of the library does not know. */
        NEWER_SCHEMA,
        /** The role of this process may not see the transactions of other roles. */
        HIDDEN_SESSIONS
    }

    /** For stores: these runs are ready, and no worker is alive. */
    public static Finding noWorker(StoreStatus.InState ready) {
        return new Finding(
                Kind.NO_WORKER,
                "No worker is alive. Ready runs wait: %d, the oldest, '%s', since %s."
                        .formatted(ready.count(), ready.oldest(), ready.oldestCreatedAt()),
                "Start a process with a worker: Perdure.on(store).register(…).start(). If one is running, look in its log.");
    }
}
