/** The only package that uses clocks, random numbers and threads directly. */
package dev.perdure.internal.time;
