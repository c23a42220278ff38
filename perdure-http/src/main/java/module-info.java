import org.jspecify.annotations.NullMarked;

/** The HTTP API for operators and other programs, without a framework, and a server for it. */
@NullMarked
module dev.perdure.http {
    requires transitive dev.perdure;
    requires jdk.httpserver;
    requires org.slf4j;
    requires static org.jspecify;
    requires tools.jackson.databind;

    exports dev.perdure.http;
    exports dev.perdure.http.exchange;
    exports dev.perdure.http.security;
}
