/** What steps report while they run. */
package dev.perdure.postgres.report;
