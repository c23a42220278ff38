import org.jspecify.annotations.NullMarked;

/** The conformance suite that every store must pass. */
@NullMarked
module dev.perdure.conformance {
    requires transitive dev.perdure;
    requires transitive org.junit.jupiter.api;
    requires org.assertj.core;

    exports dev.perdure.conformance;
    exports dev.perdure.conformance.contract;
    exports dev.perdure.conformance.dag;
    exports dev.perdure.conformance.limiter;
    exports dev.perdure.conformance.object;
    exports dev.perdure.conformance.operation;
    exports dev.perdure.conformance.queue;
    exports dev.perdure.conformance.report;
}
