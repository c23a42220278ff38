/** What is read of runs, journals, mailboxes and object states. */
package dev.perdure.postgres.read;
