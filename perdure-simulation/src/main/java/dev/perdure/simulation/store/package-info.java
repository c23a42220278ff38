/** Stores in front of another: one that forwards everything, and those with a defect. */
package dev.perdure.simulation.store;
