package dev.perdure.testing.postgres;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Runs the tests of a class on a real PostgreSQL, in virtual time: each test that asks for a
 * {@link dev.perdure.testing.PerdureTest} gets one with a schema of its own, in the class's own database, on the build's one
 * embedded server.
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
