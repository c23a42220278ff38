package dev.perdure.version;

import java.util.List;

/**
 * A version of workers.
 *
 * @param name the version
 * @param state whether it takes runs, and whether it may be switched off
 * @param workers how many live workers have it
 * @param runs how many live runs are pinned to it
 * @param definitions what its workers have registered and the runs that are pinned to it run, by name, without the
 *     engine's own definitions
 */
public record VersionInfo(String name, State state, int workers, long runs, List<Definition> definitions) {
    /** Copies the list. */
    public VersionInfo {
        definitions = List.copyOf(definitions);
    }

    /** Whether a version takes runs, and whether it may be switched off. */
    public enum State {
        /** Its workers take runs. */
        ACTIVE,
        /** An operator drains it. Runs are pinned to it, or a worker has not noticed it yet. */
        DRAINING,
        /** Its workers take no more runs, and no live run is pinned to it: it is safe to switch it off. */
        DRAINED,
        /** Live runs are pinned to it, and no live worker has it: they do not continue. */
        NO_WORKER
    }

    /**
     * A definition in a version.
     *
     * @param name its name
     * @param runs how many live runs of it are pinned to the version
     * @param workers how many live workers of the version have it; if none has and there are runs, these do not continue
     * @param draining whether the version is told to take no more runs of it
     * @param drained whether it is told so, its workers take no more, and no live run of it is pinned to the version;
     *     other runs that are pinned to the version may still start children of it
     */
    public record Definition(String name, long runs, int workers, boolean draining, boolean drained) {}

    /** Whether runs are pinned to it that no live worker can continue. */
    public boolean lacksWorkers() {
        return definitions.stream().anyMatch(definition -> definition.runs() > 0 && definition.workers() == 0);
    }

    /** For stores: the state that follows from the other values. */
    public static State state(int workers, long runs, boolean told, boolean allObey) {
        if (workers == 0 && runs > 0) {
            return State.NO_WORKER;
        }
        if (!told) {
            return State.ACTIVE;
        }
        return runs == 0 && allObey ? State.DRAINED : State.DRAINING;
    }
}
