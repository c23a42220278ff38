/** What a request must pass before a route answers it. */
package dev.perdure.http.internal.guard;
