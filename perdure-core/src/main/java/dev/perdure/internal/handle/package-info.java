/** Handles of callers on runs, DAGs, promises and published values. */
package dev.perdure.internal.handle;
