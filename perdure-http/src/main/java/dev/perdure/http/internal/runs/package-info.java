/** The routes about runs: finding, reading and commanding them. */
package dev.perdure.http.internal.runs;
