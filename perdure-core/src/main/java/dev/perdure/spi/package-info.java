/**
 * For writers of adapters: the store contract, the codec, and the source of time and threads.
 *
 * <p>A {@link dev.perdure.spi.Store} consists of a few small roles. Run the conformance suite of
 * {@code perdure-store-conformance} against your store: a store that passes it supports every guarantee of the engine.
 */
package dev.perdure.spi;
