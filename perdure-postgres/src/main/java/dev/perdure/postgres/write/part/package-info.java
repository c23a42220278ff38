/** The parts of a batch: statements with their parameters and answers. */
package dev.perdure.postgres.write.part;
