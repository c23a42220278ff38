/** What an engine measures about itself, for modules that offer it as metrics. */
package dev.perdure.spi.measure;
