/** Conformance of what stores keep of what steps report. */
package dev.perdure.conformance.report;
