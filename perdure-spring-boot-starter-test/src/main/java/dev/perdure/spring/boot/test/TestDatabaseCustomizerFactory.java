package dev.perdure.spring.boot.test;

import dev.perdure.embedded.SharedPostgres;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.MergedContextConfiguration;
import org.springframework.test.context.TestContextAnnotationUtils;

/** Gives the application of a test class with {@link AutoConfigurePerdureTest} a database of its own. */
final class TestDatabaseCustomizerFactory implements ContextCustomizerFactory {
    /** Whether the engine is one for tests. */
    static final String ENABLED = "perdure.test.enabled";

    /** Spring keeps the applications of many test classes, and all their pools share the connections of one server. */
    private static final Map<String, Object> DEFAULTS = Map.of("spring.datasource.hikari.minimum-idle", 1);

    @Override
    public @Nullable ContextCustomizer createContextCustomizer(
            Class<?> testClass, List<ContextConfigurationAttributes> attributes) {
        return TestContextAnnotationUtils.hasAnnotation(testClass, AutoConfigurePerdureTest.class)
                ? new TestDatabaseCustomizer()
                : null;
    }

    /** All are equal, so that test classes share an application that is otherwise the same. */
    private record TestDatabaseCustomizer() implements ContextCustomizer {
        @Override
        public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration configuration) {
            SharedPostgres.Fresh database =
                    SharedPostgres.database(configuration.getTestClass().getSimpleName());
            // It ends with the server, in the same shutdown hooks of the JVM as most applications of tests.
            context.getBeanFactory().registerSingleton("perdureTestDatabase", database);
            Map<String, Object> properties = Map.of(
                    "spring.datasource.url",
                    database.jdbcUrl(),
                    "spring.datasource.username",
                    database.user(),
                    "spring.datasource.password",
                    database.password(),
                    ENABLED,
                    true,
                    "perdure.enabled",
                    false); // the engine of the starter
            MutablePropertySources sources = context.getEnvironment().getPropertySources();
            sources.addFirst(new MapPropertySource("perdure-test", properties));
            sources.addLast(new MapPropertySource("perdure-test-defaults", DEFAULTS));
        }
    }
}
