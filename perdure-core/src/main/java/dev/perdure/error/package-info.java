/** The exceptions that callers and workflow code meet. Each names the thing, the reason and the remedy. */
package dev.perdure.error;
