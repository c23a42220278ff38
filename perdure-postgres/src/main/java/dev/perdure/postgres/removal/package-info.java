/** Removes runs whose retention is over. */
package dev.perdure.postgres.removal;
