/** What runs look like in the API, and what of their payloads is shown. */
package dev.perdure.http.internal.show;
