/** The OpenAPI document. */
package dev.perdure.http.internal.openapi;
