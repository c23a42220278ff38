/**
 * What every store must do, one class per group of tests. Extend each class in the tests of a store and open an empty
 * store there. A store that passes all of them keeps every promise of the engine.
 */
package dev.perdure.conformance;
