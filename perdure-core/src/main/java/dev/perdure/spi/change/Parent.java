package dev.perdure.spi.change;

/**
 * Who started a run from inside a run.
 *
 * @param run the parent
 * @param position the position of the call that started it
 * @param answers whether the parent gets the outcome, as mail on {@link Channel#answer} of that position
 */
public record Parent(RunRef run, int position, boolean answers) {}
