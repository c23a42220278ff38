/** Names and messages: what a text must be like, and how messages are put together. */
package dev.perdure.internal.text;
