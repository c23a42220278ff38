/** The mail of a run: what it receives, sends, publishes and emits. */
package dev.perdure.internal.execution.mail;
