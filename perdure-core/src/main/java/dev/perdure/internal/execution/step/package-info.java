/** Steps: attempts, retries and transaction steps. */
package dev.perdure.internal.execution.step;
