/** Migrations, and the checks of a database before it is used. */
package dev.perdure.postgres.setup;
