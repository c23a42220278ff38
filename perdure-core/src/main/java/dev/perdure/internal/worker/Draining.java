package dev.perdure.internal.worker;

import dev.perdure.internal.definition.Registry;
import dev.perdure.internal.settings.Settings;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.VersionRules;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.report.EngineLog;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * What this worker takes no more because operators drain its version.
 *
 * <p>How it works: the loop that keeps the lease asks the store after each renewal what the version is told. From then on
 * no poll claims such runs, and no start gives one to this worker. A poll or a start that began before may still bring
 * one. When all of them are over, the worker reports that it obeys; from then on nothing is pinned to a version whose
 * workers all obey, except by runs that are pinned to it. So when no such run is left, none can come, and the version is
 * drained. A worker without a version asks for nothing.
 *
 * <p>A worker that is resumed takes its report back before it takes runs again, and then asks once more. So another drain
 * either finds a worker that does not obey yet, or is found by that worker before it takes anything.
 *
 * <p>If the process dies at any point, the rows of operators are still there: the next worker of the version reads them
 * before its first poll.
 */
final class Draining {
    private static final Logger LOG = EngineLog.of("dev.perdure.worker");

    private final VersionRules versions;
    private final Clockwork clockwork;
    private final Settings.WorkerRules rules;
    private final Registry registry;

    /** What polls and starts obey. */
    private volatile Dispatch.Version version;
    /** What the last poll obeyed that ended since the version was told something new; null if none has. */
    private volatile @Nullable Set<String> polled;

    private Set<String> told = Set.of();
    private Set<Object> startsBefore = Set.of();
    /** What the store knows that this worker obeys: never more than it does. */
    private Set<String> reported = Set.of();
    /** Whether the answer to the last report was lost, so that the store may know that one instead. */
    private boolean unsure;

    private @Nullable WorkerId reporter;
    private boolean drained;

    Draining(VersionRules versions, Clockwork clockwork, Settings.WorkerRules rules, Registry registry) {
        this.versions = versions;
        this.clockwork = clockwork;
        this.rules = rules;
        this.registry = registry;
        this.version = version(Set.of());
    }

    private Dispatch.Version version(Set<String> drains) {
        return rules.version() == null
                ? Dispatch.Version.of(null)
                : new Dispatch.Version(rules.version(), registry.pinned(), drains);
    }

    /** The version of the worker, with what it drains now. */
    Dispatch.Version version() {
        return version;
    }

    /** Whether it drains something: then runs come into its memory only by polls. */
    boolean isUnderWay() {
        return !version.drained().isEmpty();
    }

    /** A poll under this version is over, and the runs that it brought are in the store. */
    void polled(Dispatch.Version used) {
        polled = used.drained();
    }

    /**
     * Asks what the version is told, and reports what this worker obeys. Only the loop that keeps the lease calls it.
     * Returns whether the version is told something new, so that a poll is worthwhile.
     *
     * @param worker under which id the worker has its lease now
     * @param starts its calls that may bring runs into its memory
     */
    boolean look(WorkerId worker, Acquisitions starts) {
        String name = rules.version();
        if (name == null) {
            return false;
        }
        if (!worker.equals(reporter)) {
            reporter = worker; // One that has joined again has not reported anything under its new id.
            reported = Set.of();
            unsure = false;
        }
        Set<String> now = told(worker, name);
        boolean news = !now.equals(told);
        if (news) {
            told = now;
            version = version(now.contains(VersionRules.ALL) ? registry.names() : now);
            polled = null; // After the version: a poll that is under way has the old one, and no other begins with it.
            startsBefore = starts.underWay();
            drained = false;
            logTold(worker, name);
        }
        report(worker, starts);
        if (!drained && reported.contains(VersionRules.ALL) && reported.equals(told) && versions.isDrained(name)) {
            drained = true;
            LOG.info(
                    "Version {} is drained: worker {} takes no more runs, and no run is left that is pinned to this version.",
                    name,
                    worker);
            clockwork.fork("perdure-drained", this::tell);
        }
        return news;
    }

    /** What the version is told. What the worker is about to take again is no longer in its report when this returns. */
    private Set<String> told(WorkerId worker, String name) {
        Set<String> now = versions.drains(name);
        while (unsure || !still(now).equals(reported)) {
            write(worker, still(now));
            now = versions.drains(name); // The version may have been told to drain again before the report was changed.
        }
        return now;
    }

    /** What of its report the worker goes on to obey. Who has drained everything has drained each definition. */
    private Set<String> still(Set<String> now) {
        if (now.contains(VersionRules.ALL)) {
            return reported;
        }
        if (reported.contains(VersionRules.ALL)) {
            return now;
        }
        Set<String> both = new HashSet<>(reported);
        both.retainAll(now);
        return both;
    }

    private void report(WorkerId worker, Acquisitions starts) {
        boolean obeys = version.drained().equals(polled) && starts.haveEnded(startsBefore);
        if (obeys && !reported.equals(told)) {
            write(worker, told);
        }
    }

    private void write(WorkerId worker, Set<String> report) {
        unsure = true;
        versions.obeys(worker, report);
        reported = Set.copyOf(report);
        unsure = false;
    }

    private void tell() {
        try {
            rules.whenDrained().run();
        } catch (RuntimeException | Error failure) {
            LOG.warn("The action for a drained version failed. The worker goes on, and takes no more runs.", failure);
        }
    }

    private void logTold(WorkerId worker, String name) {
        if (told.isEmpty()) {
            LOG.info("Version {} is resumed: worker {} takes runs again.", name, worker);
        } else {
            LOG.info(
                    "Version {} drains: worker {} takes no more runs of {} but those that are pinned to this version.",
                    name,
                    worker,
                    told.contains(VersionRules.ALL) ? "any definition" : new TreeSet<>(told));
        }
    }
}
