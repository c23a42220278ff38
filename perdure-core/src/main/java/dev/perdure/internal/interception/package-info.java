/** The interceptors of an engine, one around the other. */
package dev.perdure.internal.interception;
