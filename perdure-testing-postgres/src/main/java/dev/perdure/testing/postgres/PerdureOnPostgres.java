package dev.perdure.testing.postgres;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Runs the tests of a class on a real PostgreSQL, with virtual time. Each test with a parameter of type
 * {@link dev.perdure.testing.PerdureTest} gets its own schema, in a database of the test class, on the embedded server
 * of the JVM.
 *
 * <pre>{@code
 * @PerdureOnPostgres
 * class OrdersIT {
 *     @Test
 *     void ships_a_day_after_payment(PerdureTest perdure) { … }
 * }
 * }</pre>
 */
@Documented
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(PostgresExtension.class)
public @interface PerdureOnPostgres {}
