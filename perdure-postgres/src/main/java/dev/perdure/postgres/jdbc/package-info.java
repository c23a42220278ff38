/** Connections, parameters, answers and SQLSTATEs. The lowest package: it knows nothing of runs except their codes. */
package dev.perdure.postgres.jdbc;
