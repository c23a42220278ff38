/** Workers by their numbers, and the lanes that fence what they write. */
package dev.perdure.postgres.lane;
