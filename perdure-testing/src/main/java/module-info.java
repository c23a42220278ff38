import org.jspecify.annotations.NullMarked;

/** Tests on virtual time, with crashes on demand. */
@NullMarked
module dev.perdure.testing {
    requires transitive dev.perdure;
    requires transitive org.junit.jupiter.api;

    exports dev.perdure.testing;
}
