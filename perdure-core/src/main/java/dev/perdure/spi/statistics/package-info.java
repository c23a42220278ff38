/** What stores read of many runs at once. */
package dev.perdure.spi.statistics;
