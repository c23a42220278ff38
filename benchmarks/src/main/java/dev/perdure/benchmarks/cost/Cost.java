package dev.perdure.benchmarks.cost;

/**
 * Used resources: up to a moment, between two moments, or per operation.
 *
 * @param process nanoseconds of processor time of the measured processes, user and system
 * @param server nanoseconds of processor time of all processes of the server; NaN if unknown
 * @param wal bytes of write-ahead log
 * @param commits transactions that wrote
 * @param roundTrips waits of a connection for an answer of the server
 */
public record Cost(double process, double server, double wal, double commits, double roundTrips) {
    /** The resources used since then. */
    Cost since(Cost before) {
        return new Cost(
                process - before.process,
                server - before.server,
                wal - before.wal,
                commits - before.commits,
                roundTrips - before.roundTrips);
    }

    /** The cost per operation. */
    public Cost per(long operations) {
        return new Cost(
                process / operations,
                server / operations,
                wal / operations,
                commits / operations,
                roundTrips / operations);
    }
}
