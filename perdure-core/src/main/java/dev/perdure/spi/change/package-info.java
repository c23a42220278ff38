/** The changes that an engine sends to a store, and the values that they consist of. */
package dev.perdure.spi.change;
