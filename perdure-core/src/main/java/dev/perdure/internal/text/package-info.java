/** Names and messages: which texts are allowed, and how messages are built. */
package dev.perdure.internal.text;
