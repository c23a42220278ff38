/** Values as bytes, and ids and tokens that are derived from the seed of a run. */
package dev.perdure.internal.execution.value;
