/** What changes the bytes of values before they are stored: encryption and compression. */
package dev.perdure.payload;
