/** Schedules as runs: what they are told, what they decide, and how they fire. */
package dev.perdure.internal.schedule;
