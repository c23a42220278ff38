/** Who may do what through the HTTP API, and what is shown. */
package dev.perdure.http.security;
