/** Transaction steps: bodies on connections, and the record that is committed with what the body did. */
package dev.perdure.postgres.transaction;
