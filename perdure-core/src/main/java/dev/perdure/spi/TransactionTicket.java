package dev.perdure.spi;

import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.transaction.TransactionOptions;
import java.time.Duration;

/**
 * For whom a transaction is run.
 *
 * @param worker who holds the run
 * @param lease how long it counts as alive without a sign of life: an idle transaction must not outlast it
 * @param run the run
 * @param seed the run's random bits: with its id they tell it from every other run of any database
 * @param epoch under which the worker holds it
 * @param position at which its record belongs
 * @param options isolation and whether it only reads
 */
public record TransactionTicket(
        WorkerId worker, Duration lease, RunRef run, long seed, long epoch, int position, TransactionOptions options) {}
