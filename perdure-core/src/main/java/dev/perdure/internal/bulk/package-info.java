/** Bulk actions: the run that applies a command to all runs that a filter selects. */
package dev.perdure.internal.bulk;
