/** Encrypts all stored values anew, so that an old key can be thrown away. */
package dev.perdure.internal.reencryption;
