package dev.perdure.internal.time;

import java.security.SecureRandom;

/** Random bytes that nobody can guess. They are for keys and nonces, so no simulation repeats them. Thread-safe. */
public final class SecureBytes {
    private final SecureRandom random = new SecureRandom();

    /** This many bytes. */
    public byte[] next(int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }
}
