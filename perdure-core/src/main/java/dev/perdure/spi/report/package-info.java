/** What stores keep of what the bodies of steps report while they run. */
package dev.perdure.spi.report;
