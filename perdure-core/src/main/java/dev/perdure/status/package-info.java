/** How the store is: what is in it, what holds it up, and what to do about it. */
package dev.perdure.status;
