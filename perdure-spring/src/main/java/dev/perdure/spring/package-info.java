/** Transaction steps in Spring's transactions, and an outbox in the current transaction. */
@NullMarked
package dev.perdure.spring;

import org.jspecify.annotations.NullMarked;
