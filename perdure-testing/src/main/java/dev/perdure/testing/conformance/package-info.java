/**
 * What every store must hold, one class per role. Extend each in the tests of a store and say how to open it: a store that
 * passes all of them carries every promise of the engine.
 */
package dev.perdure.testing.conformance;

