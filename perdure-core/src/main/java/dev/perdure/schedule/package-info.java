/** Schedules: runs that are started again and again by themselves. */
package dev.perdure.schedule;
