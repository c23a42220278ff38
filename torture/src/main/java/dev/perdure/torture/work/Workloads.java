package dev.perdure.torture.work;

import java.nio.file.Path;
import java.util.List;

/** What workers register, and what the client starts. */
public final class Workloads {
    /** Those of a run with faults. */
    public static final List<Workload> ALL = List.of(
            new Steps(),
            new Transfers(),
            new Rallies(),
            new Appends(),
            new Diamonds(),
            new Limited(),
            new Families(),
            new Answers(),
            new Walks());

    /** Those of a soak: without the lists that grow with every append. */
    public static final List<Workload> SOAKED = List.of(
            new Steps(),
            new Transfers(),
            new Rallies(),
            new Counts(),
            new Diamonds(),
            new Limited(),
            new Families(),
            new Answers());

    private Workloads() {}

    /** Those of a run with faults, of another build that has its classes in this folder. */
    public static List<Workload> of(Path classes) {
        return WorkloadLoader.load(classes);
    }
}
