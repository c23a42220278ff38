/**
 * The production store: runs on the PostgreSQL that a team already has.
 *
 * <p>{@link dev.perdure.postgres.PostgresStore#on} sets it up. The other types here are transaction steps and the
 * outbox. The packages below this one are not exported; {@code docs/internals/store.md} shows them.
 */
package dev.perdure.postgres;
