/** What faults happen to, and what records it: worker processes, a proxy in front of the server, a ledger outside the engine. */
@NullMarked
package dev.perdure.torture.setup;

import org.jspecify.annotations.NullMarked;
