/** Perdure in a Spring Boot application: the store, the engine and the outbox as beans. */
@NullMarked
package dev.perdure.spring.boot;

import org.jspecify.annotations.NullMarked;
