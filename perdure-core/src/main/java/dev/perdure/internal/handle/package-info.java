/** Handles of callers on runs, graphs of tasks, promises and published values. */
package dev.perdure.internal.handle;
