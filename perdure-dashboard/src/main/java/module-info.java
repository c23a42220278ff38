import org.jspecify.annotations.NullMarked;

/** The dashboard: pages on the HTTP API, to see every run and to act on it. */
@NullMarked
module dev.perdure.dashboard {
    requires transitive dev.perdure;
    requires transitive dev.perdure.http;
    requires org.slf4j;
    requires static org.jspecify;

    exports dev.perdure.dashboard;
}
