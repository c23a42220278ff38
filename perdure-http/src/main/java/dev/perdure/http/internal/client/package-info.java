/** The routes for applications: starts, results, messages, events, calls and webhooks. */
package dev.perdure.http.internal.client;
