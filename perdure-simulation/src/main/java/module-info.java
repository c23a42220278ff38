import org.jspecify.annotations.NullMarked;

/** The engine under simulation: workloads that use everything at once, and what must hold after each history. */
@NullMarked
module dev.perdure.simulation {
    requires java.sql;
    requires transitive dev.perdure.testing;

    exports dev.perdure.simulation.store;

    opens dev.perdure.simulation.scene to
            dev.perdure;
}
