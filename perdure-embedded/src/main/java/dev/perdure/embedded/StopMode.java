package dev.perdure.embedded;

import java.util.Locale;

/** How a server is stopped. */
public enum StopMode {
    /** Open transactions are rolled back, everything is written, the server ends in order. */
    FAST,
    /** As in a crash: the server drops everything at once and has to recover from its log at the next start. */
    IMMEDIATE;

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
