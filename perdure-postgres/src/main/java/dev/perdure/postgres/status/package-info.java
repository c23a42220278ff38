/** How the database is, for operators. */
package dev.perdure.postgres.status;
