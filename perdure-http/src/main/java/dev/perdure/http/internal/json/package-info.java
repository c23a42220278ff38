/** JSON: how values are read and written, and what the objects of the API look like. */
package dev.perdure.http.internal.json;
