/**
 * Tests that read like production code and take milliseconds: an engine on virtual time, with crashes at will. Start at
 * {@link dev.perdure.testing.PerdureTest}.
 */
package dev.perdure.testing;
