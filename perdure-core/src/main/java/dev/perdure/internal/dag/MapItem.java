package dev.perdure.internal.dag;

import org.jspecify.annotations.Nullable;

/**
 * What the run of one item of a map is started with.
 *
 * @param run the run of the graph
 * @param input its input
 * @param item the item
 * @param <I> the graph's input
 * @param <E> the item
 */
record MapItem<I extends @Nullable Object, E extends @Nullable Object>(String run, I input, E item) {}
