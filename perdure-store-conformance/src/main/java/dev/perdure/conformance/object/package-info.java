/** What every store must do with virtual objects, their calls and their states. */
package dev.perdure.conformance.object;
