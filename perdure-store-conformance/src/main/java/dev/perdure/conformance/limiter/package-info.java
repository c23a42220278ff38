/** What every store must do with limiters of steps: permits, lines, rates and the changes of operators. */
package dev.perdure.conformance.limiter;
