package dev.perdure.spring.boot;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.beans.factory.annotation.Qualifier;

/**
 * Marks the {@link javax.sql.DataSource} that the store uses, if it is not the application's primary one.
 *
 * <pre>{@code
 * @Bean(defaultCandidate = false)
 * @PerdureDataSource
 * HikariDataSource perdureDataSource() { … }
 * }</pre>
 */
@Documented
@Qualifier
@Target({ElementType.FIELD, ElementType.METHOD, ElementType.PARAMETER, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
public @interface PerdureDataSource {}
