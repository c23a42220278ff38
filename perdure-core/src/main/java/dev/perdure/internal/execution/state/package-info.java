/** The state of a virtual object as a call reads and writes it. */
package dev.perdure.internal.execution.state;
