/** Cron expressions: which local times they name, and which instants these are in a time zone. */
package dev.perdure.internal.cron;
