package dev.perdure.torture.fault;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * How many of the bodies each of several processes ran.
 *
 * @param pids the process of each body, in their order
 */
record BodyShares(List<Long> pids) {
    /** Each process has to run so many percent of the bodies since the last of them began. */
    private static final int LEAST = 10;
    /** Fewer bodies than these say nothing: they may all be in the hands of some of the processes already. */
    private static final int FEW = 1_000;

    /** Whether so many processes took part, and none of them was kept from work once it had begun. */
    boolean areShared(int processes) {
        Map<Long, Long> all = counted(pids);
        Map<Long, Long> together = counted(pids.subList(lastBeginning(), pids.size()));
        long bodies = together.values().stream().mapToLong(Long::longValue).sum();
        return all.size() == processes
                && (bodies < FEW
                        || all.keySet().stream()
                                .allMatch(pid -> together.getOrDefault(pid, 0L) * 100 >= LEAST * bodies));
    }

    /** Where the process that began last ran its first body. */
    private int lastBeginning() {
        Set<Long> seen = new HashSet<>();
        int last = 0;
        for (int i = 0; i < pids.size(); i++) {
            if (seen.add(pids.get(i))) {
                last = i;
            }
        }
        return last;
    }

    private static Map<Long, Long> counted(List<Long> pids) {
        return pids.stream().collect(Collectors.groupingBy(pid -> pid, TreeMap::new, Collectors.counting()));
    }

    @Override
    public String toString() {
        return counted(pids).toString();
    }
}
