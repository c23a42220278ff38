/** Requests and responses between the HTTP API and what serves it. */
package dev.perdure.http.exchange;
