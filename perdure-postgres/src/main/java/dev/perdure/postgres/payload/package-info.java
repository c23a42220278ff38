/** Large payloads in tables of their own, and the bytes of encrypted values wherever they are. */
package dev.perdure.postgres.payload;
