/** The dashboard: pages on the HTTP API, to see every run and to act on it. */
package dev.perdure.dashboard;
