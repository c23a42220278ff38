/** Versions of workers: which runs are pinned to them, and which of them drain. */
package dev.perdure.postgres.version;
