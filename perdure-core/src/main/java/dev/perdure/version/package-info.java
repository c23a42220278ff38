/** Versions of workers and the runs that are pinned to them: looked at, and drained before they are switched off. */
package dev.perdure.version;
