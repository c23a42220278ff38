/** Workers by their numbers, and the lanes that fence their writes. */
package dev.perdure.postgres.lane;
