/** What an engine tells a store: changes to runs, and the values they consist of. */
package dev.perdure.spi.change;
