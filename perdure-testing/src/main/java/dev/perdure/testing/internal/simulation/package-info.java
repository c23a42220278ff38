/**
 * One seed, one history: the whole engine in one JVM, one thread at a time, with every choice drawn from a seed.
 */
package dev.perdure.testing.internal.simulation;
