/** Histories of the whole engine, and the invariants that hold after each of them. */
package dev.perdure.simulation;
