package dev.perdure.spring.boot;

import dev.perdure.PerdureBuilder;
import dev.perdure.postgres.PostgresStoreBuilder;
import dev.perdure.spring.boot.internal.NamedProperty;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties {@code perdure.*}. A property that is not set leaves the default of the builder.
 *
 * @param store the store on PostgreSQL
 * @param worker the worker of this process
 * @param warmWindow as {@link PerdureBuilder#warmWindow}
 * @param maxPayloadBytes as {@link PerdureBuilder#maxPayloadBytes}
 * @param maxInlineBytes as {@link PerdureBuilder#maxInlineBytes}
 */
@ConfigurationProperties(PerdureProperties.PREFIX)
public record PerdureProperties(
        @DefaultValue StoreProperties store,
        @DefaultValue WorkerProperties worker,
        @Nullable Duration warmWindow,
        @Nullable Integer maxPayloadBytes,
        @Nullable Integer maxInlineBytes) {
    static final String PREFIX = "perdure";

    /**
     * The properties {@code perdure.store.*}.
     *
     * @param schema as {@link PostgresStoreBuilder#schema}
     * @param lanes as {@link PostgresStoreBuilder#lanes}
     * @param migrate as {@link PostgresStoreBuilder#migrate}
     * @param notifications as {@link PostgresStoreBuilder#notifications}
     */
    public record StoreProperties(
            @Nullable String schema,
            @Nullable Integer lanes,
            @Nullable Boolean migrate,
            @Nullable Boolean notifications) {
        PostgresStoreBuilder applyTo(PostgresStoreBuilder defaults) {
            PostgresStoreBuilder builder = set(defaults, "store.schema", schema, PostgresStoreBuilder::schema);
            builder = set(builder, "store.lanes", lanes, PostgresStoreBuilder::lanes);
            builder = set(builder, "store.migrate", migrate, PostgresStoreBuilder::migrate);
            return set(builder, "store.notifications", notifications, PostgresStoreBuilder::notifications);
        }
    }

    /**
     * The properties {@code perdure.worker.*}.
     *
     * @param enabled whether this process runs workflows; otherwise it only starts and awaits runs
     * @param queues the queues from which the worker takes runs; if empty, the default queue and those that the
     *     application declares
     * @param lease as {@link PerdureBuilder#lease}
     * @param closeTimeout as {@link PerdureBuilder#closeTimeout}
     * @param maxRuns as {@link PerdureBuilder#maxRuns}
     * @param version as {@link PerdureBuilder#version}
     * @param labels as {@link PerdureBuilder#label}, by name
     */
    public record WorkerProperties(
            @DefaultValue("true") boolean enabled,
            @DefaultValue List<String> queues,
            @Nullable Duration lease,
            @Nullable Duration closeTimeout,
            @Nullable Integer maxRuns,
            @Nullable String version,
            @DefaultValue Map<String, String> labels) {
        private void applyTo(PerdureBuilder builder) {
            for (int i = 0; i < queues.size(); i++) {
                set(builder, "worker.queues[" + i + "]", queues.get(i), (to, name) -> to.queues(name));
            }
            set(builder, "worker.lease", lease, PerdureBuilder::lease);
            set(builder, "worker.close-timeout", closeTimeout, PerdureBuilder::closeTimeout);
            set(builder, "worker.max-runs", maxRuns, PerdureBuilder::maxRuns);
            set(builder, "worker.version", version, PerdureBuilder::version);
            labels.forEach((name, value) ->
                    set(builder, "worker.labels." + name, value, (to, label) -> to.label(name, label)));
        }
    }

    void applyTo(PerdureBuilder builder) {
        worker.applyTo(builder);
        set(builder, "warm-window", warmWindow, PerdureBuilder::warmWindow);
        set(builder, "max-payload-bytes", maxPayloadBytes, PerdureBuilder::maxPayloadBytes);
        set(builder, "max-inline-bytes", maxInlineBytes, PerdureBuilder::maxInlineBytes);
    }

    private static <B, V> B set(B builder, String property, @Nullable V value, BiFunction<B, V, B> setter) {
        return NamedProperty.set(builder, PREFIX + "." + property, value, setter);
    }
}
