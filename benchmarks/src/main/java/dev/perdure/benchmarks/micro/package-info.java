/** Micro-benchmarks of pure code, without a database. */
@NullMarked
package dev.perdure.benchmarks.micro;

import org.jspecify.annotations.NullMarked;
