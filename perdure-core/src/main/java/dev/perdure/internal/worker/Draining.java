package dev.perdure.internal.worker;

import dev.perdure.internal.definition.Registry;
import dev.perdure.internal.settings.Settings;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.VersionRules;
import dev.perdure.spi.change.WorkerId;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What this worker takes no more because operators drain its version.
 *
 * <p>How it works: the loop that keeps the lease asks the store after each renewal what the version is told. From then on
 * no poll claims such runs, and no start gives one to this worker. A poll or a start that began before may still bring
 * one. When all of them are over, the worker reports that it obeys; from then on nothing is pinned to a version whose
 * workers all obey, except by runs that are pinned to it. So when no such run is left, none can come, and the version is
 * drained. A worker without a version asks for nothing.
 *
 * <p>If the process dies at any point, the rows of operators are still there: the next worker of the version reads them
 * before its first poll.
 */
final class Draining {
    private static final Logger LOG = LoggerFactory.getLogger("dev.perdure.worker");

    private final Settings settings;
    private final Settings.WorkerRules rules;
    private final Registry registry;
    private final VersionRules versions;

    /** What polls and starts obey. */
    private volatile Dispatch.Version version;
    /** What the last poll that is over obeyed. */
    private volatile Set<String> polled = Set.of();

    private Set<String> told = Set.of();
    private Set<Object> startsBefore = Set.of();
    private Set<String> reported = Set.of();
    private @Nullable WorkerId reporter;
    private boolean drained;

    Draining(Settings settings, Settings.WorkerRules rules, Registry registry) {
        this.settings = settings;
        this.rules = rules;
        this.registry = registry;
        this.versions = settings.store().versions();
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
     */
    boolean look(Session session) {
        String name = rules.version();
        if (name == null) {
            return false;
        }
        Set<String> now = versions.drains(name);
        boolean news = !now.equals(told);
        if (news) {
            told = now;
            version = version(now.contains(VersionRules.ALL) ? registry.names() : now);
            startsBefore = session.acquisitions().underWay();
            drained = false;
            logTold(session.id(), name);
        }
        report(session);
        if (!drained && reported.contains(VersionRules.ALL) && reported.equals(told) && versions.isDrained(name)) {
            drained = true;
            LOG.info(
                    "Version {} is drained: worker {} takes no more runs, and no run is left that is pinned to this version.",
                    name,
                    session.id());
            settings.clockwork().fork("perdure-drained", this::tell);
        }
        return news;
    }

    /** A worker that has joined again has not reported anything under its new id. */
    private void report(Session session) {
        if (!session.id().equals(reporter)) {
            reporter = session.id();
            reported = Set.of();
        }
        boolean obeys =
                polled.equals(version.drained()) && session.acquisitions().haveEnded(startsBefore);
        if (obeys && !reported.equals(told)) {
            versions.obeys(session.id(), told);
            reported = told;
        }
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
