/** The exceptions that callers and workflow code get. Each message names the thing, the reason and the remedy. */
package dev.perdure.error;
