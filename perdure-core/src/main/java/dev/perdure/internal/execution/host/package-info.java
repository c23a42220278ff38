/** The interfaces between an execution and its worker. */
package dev.perdure.internal.execution.host;
