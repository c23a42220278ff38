/** The table of routes, and the requests that they answer. */
package dev.perdure.http.internal.route;
