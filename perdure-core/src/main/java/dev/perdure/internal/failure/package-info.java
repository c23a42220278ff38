/** Exceptions as data. */
package dev.perdure.internal.failure;
