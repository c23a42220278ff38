import org.jspecify.annotations.NullMarked;

/** Tests on virtual time, with crashes on demand. */
@NullMarked
@SuppressWarnings("module") // dev.perdure.simulation is built after this module
module dev.perdure.testing {
    requires transitive dev.perdure;
    requires transitive org.junit.jupiter.api;

    exports dev.perdure.testing;
    exports dev.perdure.testing.internal.simulation to
            dev.perdure.simulation;
}
