/** Joins of futures, as far as the API needs them. */
package dev.perdure.internal.join;
