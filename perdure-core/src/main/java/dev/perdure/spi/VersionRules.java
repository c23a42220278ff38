package dev.perdure.spi;

import dev.perdure.spi.change.WorkerId;
import dev.perdure.version.VersionInfo;
import dev.perdure.version.WorkerInfo;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Keeps which versions of workers drain. What a version is told stays until it is resumed, whatever becomes of its
 * workers.
 */
public interface VersionRules {
    /** Stands for all definitions. */
    String ALL = "";

    /**
     * What an operator tells a version.
     *
     * @param version the version
     * @param definition the definition, or {@link #ALL}
     * @param drains whether its workers take no more runs of it, or take runs again. If they take runs of {@link #ALL}
     *     again, they are no longer told anything
     */
    record Order(String version, String definition, boolean drains) {}

    /**
     * Tells a version something and records it in the audit, if an entry is given. Nothing happens if it has been told so
     * already.
     */
    void apply(Order order, @Nullable Audit audit);

    /** The definitions of which workers of this version are told to take no more runs; {@link #ALL} among them for all. */
    Set<String> drains(String version);

    /**
     * A worker takes no more runs of these definitions from now on: no claim and no start of it is under way that began
     * before. It names all of them each time. A worker that is dead or unknown changes nothing.
     */
    void obeys(WorkerId worker, Set<String> drains);

    /** The versions that a live worker has or to which a live run is pinned, by name. */
    List<VersionInfo> list();

    /** The live workers, by id, also those without a version. */
    List<WorkerInfo> workers();

    /** Whether a version is {@link VersionInfo.State#DRAINED}, or would be if it had workers. */
    boolean isDrained(String version);
}
