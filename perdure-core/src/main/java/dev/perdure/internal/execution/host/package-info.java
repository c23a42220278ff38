/** What an execution and its worker know of each other. */
package dev.perdure.internal.execution.host;
