/** Polls, leases and the sweep. */
package dev.perdure.postgres.work;
