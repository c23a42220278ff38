package dev.perdure.spi.change;

/**
 * The parent of a run: the run that started it.
 *
 * @param run the parent
 * @param position the position of the call that started it
 * @param answers whether the parent gets the outcome, as mail on {@link Channel#answer} of that position
 */
public record Parent(RunRef run, int position, boolean answers) {}
