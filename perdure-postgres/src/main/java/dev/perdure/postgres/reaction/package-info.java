/** Reactions, and the runs that they start. */
package dev.perdure.postgres.reaction;
