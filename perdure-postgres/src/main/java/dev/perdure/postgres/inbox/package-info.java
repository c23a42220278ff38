/** What callers ask for in transactions of their own. */
package dev.perdure.postgres.inbox;
