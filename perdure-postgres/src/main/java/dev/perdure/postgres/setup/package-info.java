/** Migrations, and the checks of a database before the store uses it. */
package dev.perdure.postgres.setup;
