/** Connections, parameters, answers, and what an SQLSTATE means. The lowest room: it knows nothing of runs but their codes. */
package dev.perdure.postgres.jdbc;
