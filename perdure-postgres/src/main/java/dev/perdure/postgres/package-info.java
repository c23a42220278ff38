/**
 * The production store: runs on the PostgreSQL a team already has.
 *
 * <p>{@link dev.perdure.postgres.PostgresStore#on} is the way in. Everything else in this package is its inside, in the
 * order in which one would read it: the schema in {@code migrations/V001__runs_and_journals.sql}, {@code LedgerSql}
 * with the batch that changes runs, {@code DispatchSql} with the claim, {@code LeaseSql} with the fence, and {@code
 * Database}, through which every statement goes.
 */
package dev.perdure.postgres;
