/** How long the store keeps runs that have ended. */
package dev.perdure.retention;
