package dev.perdure.spi;

import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.transaction.TransactionOptions;
import java.time.Duration;

/**
 * The run and the worker for which a source runs a transaction.
 *
 * @param worker the worker that holds the run
 * @param lease how long the worker counts as alive after it last renewed its lease: an idle transaction must not
 *     outlast it
 * @param run the run
 * @param seed the run's random bits: together with its id they distinguish it from every other run of any database
 * @param epoch the epoch under which the worker holds it
 * @param position the position of its record in the journal
 * @param options isolation and read-only
 */
public record TransactionTicket(
        WorkerId worker, Duration lease, RunRef run, long seed, long epoch, int position, TransactionOptions options) {}
