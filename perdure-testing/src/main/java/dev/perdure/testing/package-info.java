/**
 * Tests that read like production code and take milliseconds: an engine with virtual time and crashes on demand. Start
 * at {@link dev.perdure.testing.PerdureTest}.
 */
package dev.perdure.testing;
