/** The only package that touches clocks, chance and threads. */
package dev.perdure.internal.time;
