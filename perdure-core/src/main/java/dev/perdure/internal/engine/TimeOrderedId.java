package dev.perdure.internal.engine;

import dev.perdure.RunId;
import dev.perdure.spi.Clockwork;
import java.util.UUID;

/** Generates ids for runs: UUIDs of version 7, so that later ids sort later. */
final class TimeOrderedId {
    private TimeOrderedId() {}

    static RunId next(Clockwork clockwork) {
        long high = (clockwork.now().toEpochMilli() << 16) | 0x7000L | (clockwork.random() & 0x0FFFL);
        long low = (clockwork.random() & 0x3FFF_FFFF_FFFF_FFFFL) | 0x8000_0000_0000_0000L;
        return RunId.of(new UUID(high, low).toString());
    }
}
