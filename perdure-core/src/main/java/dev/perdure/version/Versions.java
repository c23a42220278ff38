package dev.perdure.version;

import dev.perdure.PerdureBuilder;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.UnknownVersionException;
import java.util.List;

/**
 * The versions of workers, and the runs that are pinned to them. An operator drains a version before its workers are
 * switched off. Thread-safe.
 *
 * <pre>{@code
 * perdure.versions().drain("v1");
 * boolean safe = perdure.versions().get("v1").state() == VersionInfo.State.DRAINED;
 * }</pre>
 */
public interface Versions {
    /** The versions that a live worker has, or to which a live run is pinned, by name. */
    List<VersionInfo> list();

    /**
     * One of them.
     *
     * @throws UnknownVersionException if no live worker has it and no live run is pinned to it
     */
    VersionInfo get(String version);

    /** The live workers, by id: those of all versions, and those that have none. */
    List<WorkerInfo> workers();

    /**
     * Tells the workers of a version, also those that join later, to take no more runs but those that are pinned to it.
     * They notice it within a quarter of their lease. When these runs have ended, the version is drained, and its workers
     * call what was given to {@link PerdureBuilder#whenDrained}. A run that continues as new leaves a version that drains.
     *
     * @throws UnknownVersionException if no live worker has it and no live run is pinned to it
     */
    void drain(String version);

    /**
     * The same for runs of one definition. The version takes other runs as before.
     *
     * @throws UnknownVersionException if no live worker has it and no live run is pinned to it
     * @throws InvalidRequestException if neither its workers nor the runs pinned to it have this definition
     */
    void drain(String version, String definition);

    /**
     * Lets workers of a version take runs again, of all definitions. This is also for a version whose workers have gone:
     * a version stays told to drain until it is resumed.
     */
    void resume(String version);

    /** The same for one definition. A version that drains as a whole still takes no runs of it. */
    void resume(String version, String definition);
}
