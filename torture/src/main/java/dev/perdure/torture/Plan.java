package dev.perdure.torture;

import dev.perdure.torture.defect.Planted;
import dev.perdure.torture.fault.Faults;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What is to be done.
 *
 * @param faults what happens, and when
 * @param setup what it happens to
 * @param logs the folder for the logs of the workers
 */
record Plan(FaultPlan faults, Setup setup, Path logs) {
    /**
     * What happens, and when.
     *
     * @param seed chooses the faults, their victims and their moments
     * @param calm how long the work is watched before the first fault
     * @param length for how long faults happen, two at a time; zero if each happens once, one after the other
     * @param kinds those that may happen
     * @param demanded whether each of them has its turn, however long that takes, and has to have its effect, as they
     *     were asked for by name
     */
    record FaultPlan(long seed, Duration calm, Duration length, List<Faults> kinds, boolean demanded) {
        FaultPlan {
            kinds = List.copyOf(kinds);
        }
    }

    /**
     * What faults happen to.
     *
     * @param workers how many worker processes there are
     * @param defect what is wrong with the store of the workers, to see that it is found
     * @param older a checkout of an older version, whose workers create the schema and are there first
     * @param pooler the program of a PgBouncer, through which all connections go then
     * @param crowd how many runs a worker has that dies with very many
     */
    record Setup(int workers, Optional<Planted> defect, Optional<Path> older, Optional<Path> pooler, int crowd) {
        /** A crowd that costs less than a minute. */
        static final int SMALL_CROWD = 3_000;

        /** So many workers of this version, with this defect, if any, and nothing between them and the server. */
        static Setup of(int workers, Optional<Planted> defect) {
            return new Setup(workers, defect, Optional.empty(), Optional.empty(), SMALL_CROWD);
        }
    }
}
