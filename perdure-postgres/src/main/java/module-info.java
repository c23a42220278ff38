import org.jspecify.annotations.NullMarked;

/** The production store of Perdure, on PostgreSQL 14 to 18. */
@NullMarked
@SuppressWarnings("requires-automatic") // The driver has a module name, but no descriptor.
module dev.perdure.postgres {
    requires transitive dev.perdure;
    requires transitive java.sql;
    requires org.postgresql.jdbc;
    requires org.slf4j;
    requires static org.jspecify;

    exports dev.perdure.postgres;
}
