import org.jspecify.annotations.NullMarked;

/** Runs a real PostgreSQL from a jar, for development, demos and tests. */
@NullMarked
@SuppressWarnings("requires-automatic") // The driver has a module name, but no descriptor.
module dev.perdure.embedded {
    requires transitive java.sql;
    requires java.naming;
    requires org.postgresql.jdbc;
    requires org.slf4j;
    requires org.tukaani.xz;
    requires static org.jspecify;

    exports dev.perdure.embedded;
}
