import org.jspecify.annotations.NullMarked;

/** Durable execution: the engine, the contract of its stores, and a store in memory. */
@NullMarked
// dev.perdure.testing is built after this module; cron-utils has a module name, but no descriptor.
@SuppressWarnings({"module", "requires-automatic"})
module dev.perdure {
    requires transitive org.jspecify;
    requires transitive org.slf4j;
    requires com.cronutils;
    requires tools.jackson.databind;

    exports dev.perdure;
    exports dev.perdure.attribute;
    exports dev.perdure.audit;
    exports dev.perdure.bulk;
    exports dev.perdure.dag;
    exports dev.perdure.error;
    exports dev.perdure.folder;
    exports dev.perdure.interceptor;
    exports dev.perdure.memory;
    exports dev.perdure.object;
    exports dev.perdure.payload;
    exports dev.perdure.queue;
    exports dev.perdure.reaction;
    exports dev.perdure.report;
    exports dev.perdure.retention;
    exports dev.perdure.schedule;
    exports dev.perdure.spi;
    exports dev.perdure.spi.change;
    exports dev.perdure.spi.measure;
    exports dev.perdure.spi.payload;
    exports dev.perdure.spi.report;
    exports dev.perdure.spi.shard;
    exports dev.perdure.spi.statistics;
    exports dev.perdure.statistics;
    exports dev.perdure.status;
    exports dev.perdure.transaction;
    exports dev.perdure.version;
    exports dev.perdure.internal.check to
            dev.perdure.testing;
    exports dev.perdure.internal.definition to
            dev.perdure.testing;
    exports dev.perdure.internal.engine to
            dev.perdure.testing;
    exports dev.perdure.internal.interception to
            dev.perdure.testing;
    exports dev.perdure.internal.json to
            dev.perdure.testing;
    exports dev.perdure.internal.payload to
            dev.perdure.testing;
    exports dev.perdure.internal.settings to
            dev.perdure.testing;
    exports dev.perdure.internal.time to
            dev.perdure.testing;

    // Jackson 2 is there if the application uses perdure-jackson2.
    opens dev.perdure.internal.bulk to
            com.fasterxml.jackson.databind,
            tools.jackson.databind;
    opens dev.perdure.internal.dag to
            com.fasterxml.jackson.databind,
            tools.jackson.databind;
    opens dev.perdure.internal.failure to
            com.fasterxml.jackson.databind,
            tools.jackson.databind;
    opens dev.perdure.internal.reencryption to
            com.fasterxml.jackson.databind,
            tools.jackson.databind;
    opens dev.perdure.internal.schedule to
            com.fasterxml.jackson.databind,
            tools.jackson.databind;
}
