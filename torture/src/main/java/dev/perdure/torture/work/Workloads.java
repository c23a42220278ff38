package dev.perdure.torture.work;

import java.util.List;

/** All workloads: what workers register, and what the client starts. */
public final class Workloads {
    /** All of them. */
    public static final List<Workload> ALL = List.of(
            new Steps(), new Transfers(), new Rallies(), new Appends(), new Diamonds(), new Limited(), new Families());

    private Workloads() {}
}
