/** What callers and workflows do in a history, one class per capability. */
package dev.perdure.simulation.scene;
