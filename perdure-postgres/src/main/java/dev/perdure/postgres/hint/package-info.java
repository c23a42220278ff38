/** Hints between processes, by LISTEN and NOTIFY. */
package dev.perdure.postgres.hint;
