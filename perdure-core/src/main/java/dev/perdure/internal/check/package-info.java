/** Replays exported runs on other code, without any effect. */
package dev.perdure.internal.check;
