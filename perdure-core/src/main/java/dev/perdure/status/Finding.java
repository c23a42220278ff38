package dev.perdure.status;

import dev.perdure.RunId;
import dev.perdure.version.VersionInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

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
        /** Runs are ready, and no live worker has registered what they run. */
        NOT_REGISTERED,
        /** Runs are pinned to a version in which no live worker has registered what they run. */
        NO_VERSION,
        /** Runs are ready that are not pinned, and every live worker that has registered what they run drains. */
        ALL_DRAIN,
        /** Calls of a virtual object wait behind a call that is paused. */
        PAUSED_CALL,
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

    /**
     * How long a run waits before it is a finding, because workers are restarted one after the other in a deploy.
     */
    public static final Duration PATIENCE = Duration.ofMinutes(1);

    /**
     * Runs that no live worker can take.
     *
     * @param definition what they run
     * @param version the version that they are pinned to, or empty
     * @param count how many they are
     * @param oldest the one that was started first
     * @param since when that was
     */
    public record Unregistered(String definition, Optional<String> version, long count, RunId oldest, Instant since) {}

    /** For stores: these runs have been ready for longer than {@link #PATIENCE}, and no live worker can take them. */
    public static Finding notRegistered(Unregistered runs) {
        return new Finding(
                Kind.NOT_REGISTERED,
                "No live worker has the definition '%s'%s. Ready runs wait: %s, the oldest, '%s', since %s."
                        .formatted(
                                runs.definition(),
                                runs.version()
                                        .map(" in version '%s'"::formatted)
                                        .orElse(""),
                                runs.count(),
                                runs.oldest(),
                                runs.since()),
                "Start a worker that registers it%s. If it was removed on purpose, cancel the runs."
                        .formatted(runs.version().isPresent() ? " in that version" : ""));
    }

    /** For stores: live runs are pinned to versions in which no live worker has registered what they run. */
    public static List<Finding> noVersion(VersionInfo version) {
        return version.definitions().stream()
                .filter(definition -> definition.runs() > 0 && definition.workers() == 0)
                .map(definition -> new Finding(
                        Kind.NO_VERSION,
                        "No live worker has the definition '%s' in version '%s', and %s live runs are pinned to it."
                                .formatted(definition.name(), version.name(), definition.runs()),
                        "Start a worker of that version. Or move the runs: './perdure runs bulk pause --definition %1$s --pinned %2$s', then move-to-version and resume."
                                .formatted(definition.name(), version.name())))
                .toList();
    }

    /** For stores: these runs have been ready for longer than {@link #PATIENCE}, and every worker that has them drains. */
    public static Finding allDrain(Unregistered runs) {
        return new Finding(
                Kind.ALL_DRAIN,
                "Every live worker that has the definition '%s' drains. Ready runs wait: %s, the oldest, '%s', since %s."
                        .formatted(runs.definition(), runs.count(), runs.oldest(), runs.since()),
                "Start a worker of another version, or let one of these take runs again: './perdure versions resume'.");
    }

    /**
     * A call that is paused and holds its object.
     *
     * @param run the call
     * @param object the type of the object
     * @param key the key of the object
     * @param since when it was paused
     * @param reason why
     */
    public record PausedCall(RunId run, String object, String key, Instant since, String reason) {}

    /** For stores: this call has been paused for longer than {@link #PATIENCE}, and other calls wait behind it. */
    public static Finding pausedCall(PausedCall call) {
        return new Finding(
                Kind.PAUSED_CALL,
                "Calls of the object '%s' with the key '%s' wait for run '%s', which has been PAUSED since %s: %s"
                        .formatted(call.object(), call.key(), call.run(), call.since(), call.reason()),
                "Fix what its reason says, then './perdure runs resume %1$s'; or give it up: './perdure runs kill %1$s'."
                        .formatted(call.run()));
    }

    /** For stores: these runs are ready, and no worker is alive. */
    public static Finding noWorker(StoreStatus.InState ready) {
        return new Finding(
                Kind.NO_WORKER,
                "No worker is alive. Ready runs wait: %s, the oldest, '%s', since %s."
                        .formatted(ready.count(), ready.oldest(), ready.oldestCreatedAt()),
                "Start a process with a worker: Perdure.on(store).register(…).start(). If one is running, look in its log.");
    }
}
