/** The whole suite as one class, for the test of a store. */
package dev.perdure.conformance.contract;
