/** The HTTP API, and a server for it. */
package dev.perdure.http;
