/** How runs end, how long they and their steps take, and what they fail with. */
package dev.perdure.statistics;
