package dev.perdure.bulk;

import dev.perdure.Run;
import dev.perdure.error.InvalidRequestException;

/**
 * The values that are stored encrypted: of all runs, virtual objects and schedules, and of starts and messages that are
 * on their way. Thread-safe.
 *
 * <pre>{@code
 * ReencryptionReport report = perdure.as(anna).encryptedValues().reencrypt("2026").result();
 * report.left().isEmpty(); // then no other key than '2026' is needed any more
 * }</pre>
 */
public interface EncryptedValues {
    /**
     * Encrypts all values anew that are encrypted with another key than this one, so that the other keys can be thrown
     * away. Let all processes encrypt with this key before. Runs go on meanwhile.
     *
     * <p>This is a run of its own, like a bulk action: it is durable when this returns, any worker that encrypts
     * executes it page by page, and it continues after crashes. Its status tells how far it is and, at the end, what is
     * left. A worker that encrypts with another key pauses it, with the reason.
     *
     * @param key the id of the key with which all processes encrypt
     * @throws InvalidRequestException if this process encrypts with another key, or the id is too long for one
     */
    Run<ReencryptionReport> reencrypt(String key);
}
