/**
 * For adapter writers: the store contract, the codec, and where time and threads come from.
 *
 * <p>A {@link dev.perdure.spi.Store} is a handful of small roles. Whoever writes one runs the conformance suite of
 * {@code perdure-testing} against it: a store that passes it carries every promise the engine makes.
 */
package dev.perdure.spi;
