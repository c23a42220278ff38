package dev.perdure.benchmarks.cost;

import com.sun.management.OperatingSystemMXBean;
import dev.perdure.benchmarks.server.RoundTrips;
import java.lang.management.ManagementFactory;

/**
 * The resources that a process has used since its start.
 *
 * @param nanos processor time of all its threads, user and system
 * @param roundTrips the round trips of its connections
 */
public record ProcessCost(long nanos, long roundTrips) {
    private static final OperatingSystemMXBean SYSTEM =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    /** The resources of this process. */
    public static ProcessCost now() {
        return new ProcessCost(SYSTEM.getProcessCpuTime(), RoundTrips.count());
    }

    ProcessCost plus(ProcessCost other) {
        return new ProcessCost(nanos + other.nanos, roundTrips + other.roundTrips);
    }

    /** One line, which another process parses. */
    public String line() {
        return nanos + " " + roundTrips;
    }

    /** Reads such a line. */
    public static ProcessCost parse(String line) {
        String[] numbers = line.split(" ", 2);
        return new ProcessCost(Long.parseLong(numbers[0]), Long.parseLong(numbers[1]));
    }
}
