package dev.perdure.spring.boot.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;

/**
 * Runs the workflows of an application in virtual time, on a real PostgreSQL. Put it on a class with
 * {@code @SpringBootTest}:
 *
 * <pre>{@code
 * @SpringBootTest
 * @AutoConfigurePerdureTest
 * class OrdersTest {
 *     @Autowired PerdureTest perdure;
 *
 *     @Test
 *     void ships_a_day_after_payment() {
 *         var run = perdure.start(Orders::process, order);
 *         perdure.advance(Duration.ofHours(24));
 *         …
 *     }
 * }
 * }</pre>
 *
 * <p>The application gets an empty database on the embedded server of the JVM, through the properties
 * {@code spring.datasource.url}, {@code username} and {@code password}. Its tables are kept from test to test, as in
 * any test with Spring.
 *
 * <p>Each test begins with an engine and an empty schema of its own, with the workflows, queues, schedules, limiters,
 * listeners and other beans of the application. {@link dev.perdure.testing.PerdureTest} moves time and crashes workers.
 * Every bean that uses {@link dev.perdure.Perdure}, {@link dev.perdure.Outbox} or
 * {@link dev.perdure.spring.SpringTransactions} uses that engine. The runs that the application starts while it starts
 * itself belong to no test.
 *
 * <p>It also works beside the annotation of a slice, such as {@code @WebMvcTest}. A slice does not look for workflows:
 * import those that the test needs.
 */
@Documented
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ImportAutoConfiguration(PerdureTestAutoConfiguration.class)
public @interface AutoConfigurePerdureTest {}
