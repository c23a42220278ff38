/**
 * Runs a real PostgreSQL from a jar: {@link dev.perdure.embedded.EmbeddedPostgres} for development and demos,
 * {@link dev.perdure.embedded.SharedPostgres} for tests. Not for production.
 */
@org.jspecify.annotations.NullMarked
package dev.perdure.embedded;
