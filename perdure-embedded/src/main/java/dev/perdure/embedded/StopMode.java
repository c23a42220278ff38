package dev.perdure.embedded;

import java.util.Locale;

/** How to stop a server. */
public enum StopMode {
    /** An orderly stop: the server rolls back open transactions and writes all data. */
    FAST,
    /** A stop like a crash: the server stops at once and has to recover from its WAL at the next start. */
    IMMEDIATE;

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
