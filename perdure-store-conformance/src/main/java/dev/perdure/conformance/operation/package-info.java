/** What every store must do for operators: remove old runs, retry runs that failed, fork runs. */
package dev.perdure.conformance.operation;
