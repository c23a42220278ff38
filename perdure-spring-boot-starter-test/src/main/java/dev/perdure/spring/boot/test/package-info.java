/** Tests of a Spring Boot application in virtual time, on a real PostgreSQL. */
@NullMarked
package dev.perdure.spring.boot.test;

import org.jspecify.annotations.NullMarked;
