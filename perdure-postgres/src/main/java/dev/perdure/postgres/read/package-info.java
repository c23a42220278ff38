/** Queries: runs, journals, mailboxes and the states of virtual objects. */
package dev.perdure.postgres.read;
