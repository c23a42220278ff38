/** Exceptions as data: how the journal holds them. */
package dev.perdure.internal.failure;
