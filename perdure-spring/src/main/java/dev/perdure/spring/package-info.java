/** Transaction steps in Spring's transactions, and starts in the current one. */
@NullMarked
package dev.perdure.spring;

import org.jspecify.annotations.NullMarked;
