/**
 * What user code imports: the engine, contexts, handles, options and exceptions.
 *
 * <p>Start at {@link dev.perdure.Perdure}.
 */
package dev.perdure;
