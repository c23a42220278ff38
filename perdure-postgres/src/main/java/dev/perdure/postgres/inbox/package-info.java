/** The inbox: requests that callers make in their own transactions. */
package dev.perdure.postgres.inbox;
