package dev.perdure.internal.dag;

import org.jspecify.annotations.Nullable;

/**
 * The input of the run of one item.
 *
 * @param run the run of the DAG
 * @param input its input
 * @param item the item
 * @param <I> the DAG's input
 * @param <E> the item
 */
record ForEachItem<I extends @Nullable Object, E extends @Nullable Object>(String run, I input, E item) {}
