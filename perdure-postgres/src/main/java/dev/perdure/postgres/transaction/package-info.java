/** Transaction steps: bodies on connections, and the record that is committed with the changes of the body. */
package dev.perdure.postgres.transaction;
