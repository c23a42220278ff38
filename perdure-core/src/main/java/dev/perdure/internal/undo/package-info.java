/** How sagas tell their runs what they undo, without knowing the engine. */
package dev.perdure.internal.undo;
