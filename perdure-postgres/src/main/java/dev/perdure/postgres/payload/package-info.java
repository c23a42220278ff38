/** Large payloads in tables of their own. */
package dev.perdure.postgres.payload;
