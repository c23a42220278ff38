/** How futures are joined, as far as the API has to know it. */
package dev.perdure.internal.join;
