package dev.perdure.torture;

import java.nio.file.Path;
import java.time.Duration;

/**
 * What is to be done to several shards.
 *
 * @param seed chooses the faults, their victims and their moments
 * @param calm how long the work is watched before the first fault
 * @param moves how many partitions move while nothing else happens
 * @param down how long a server is down while nothing else happens
 * @param length for how long faults happen afterwards, two at a time; zero if each happens once, one after the other
 * @param between the pause between two pieces of a workload
 * @param workers how many worker processes there are
 * @param logs the folder for the logs of the processes
 */
record ShardPlan(
        long seed,
        Duration calm,
        int moves,
        Duration down,
        Duration length,
        Duration between,
        int workers,
        Path logs) {}
