/** Handles of callers to runs, DAGs, promises and published values. */
package dev.perdure.internal.handle;
