/** The HTTP API and the dashboard in the web server of a Spring Boot application. */
@NullMarked
package dev.perdure.spring.boot.http;

import org.jspecify.annotations.NullMarked;
