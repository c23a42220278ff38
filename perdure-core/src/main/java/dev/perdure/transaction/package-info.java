/** Transaction steps: a step whose result is recorded in the same transaction as what its body writes. */
package dev.perdure.transaction;
