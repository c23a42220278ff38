/** Calls of virtual objects that a worker executes one behind another, so that their ends share commits. */
package dev.perdure.internal.object;
