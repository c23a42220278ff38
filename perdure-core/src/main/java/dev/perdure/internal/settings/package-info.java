/** What an engine is built from: its store, its clock and how its executions and its worker behave. */
package dev.perdure.internal.settings;
