package dev.perdure.spi;

import java.util.List;

/**
 * A run that is born together with the run it is part of, and is pending until all that it comes after have ended, in
 * whatever way.
 *
 * @param run the run; its parent is the one it is part of
 * @param after which of its fellows it comes after, by their places in the list; empty if it begins at once
 */
public record Task(NewRun run, List<Integer> after) {}
