/** The changes of a batch, sorted into rows, with the columns of every relation that statements are given. */
package dev.perdure.postgres.write.change;
