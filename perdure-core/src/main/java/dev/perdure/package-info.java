/**
 * The types that every application imports: the engine, contexts, handles and options.
 *
 * <p>Start at {@link dev.perdure.Perdure}.
 */
package dev.perdure;
