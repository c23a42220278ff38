/** The ledger, and the planner that chooses how a batch is sent. */
package dev.perdure.postgres.write;
