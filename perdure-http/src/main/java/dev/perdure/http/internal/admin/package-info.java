/** The routes about everything but runs: queues, limiters, schedules, retention, the store and the audit. */
package dev.perdure.http.internal.admin;
