/** Values as bytes, in place or in a payload store; and the removal of payloads to which nothing refers any more. */
package dev.perdure.internal.payload;
