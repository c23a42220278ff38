package dev.perdure.spring.boot;

import dev.perdure.PerdureBuilder;

/**
 * Sets up the engine after the properties and the beans of the application have. Declare a bean for each.
 *
 * <pre>{@code
 * @Bean
 * PerdureBuilderCustomizer build(BuildProperties build) {
 *     return builder -> builder.version(build.getVersion());
 * }
 * }</pre>
 */
@FunctionalInterface
public interface PerdureBuilderCustomizer {
    /** Changes the builder. */
    void customize(PerdureBuilder builder);
}
