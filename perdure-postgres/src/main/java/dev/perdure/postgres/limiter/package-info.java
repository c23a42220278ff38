/** Limiters of steps, and the permits that attempts hold or wait for. */
package dev.perdure.postgres.limiter;
