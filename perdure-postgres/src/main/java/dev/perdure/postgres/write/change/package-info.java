/** The changes of a batch, sorted into rows, with the columns of every relation that is passed to a statement. */
package dev.perdure.postgres.write.change;
