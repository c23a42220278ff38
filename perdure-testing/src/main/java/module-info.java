import org.jspecify.annotations.NullMarked;

/** Tests on virtual time, and the conformance suite that every store must pass. */
@NullMarked
module dev.perdure.testing {
    requires transitive dev.perdure;
    requires transitive org.assertj.core;
    requires transitive org.junit.jupiter.api;

    exports dev.perdure.testing;
    exports dev.perdure.testing.conformance;
}
