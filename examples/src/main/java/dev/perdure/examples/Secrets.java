package dev.perdure.examples;

import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.attribute.Attribute;
import dev.perdure.bulk.ReencryptionReport;
import dev.perdure.payload.Compression;
import dev.perdure.payload.Encryption;
import dev.perdure.payload.EncryptionKeys;
import dev.perdure.spi.Store;
import java.util.Map;
import javax.crypto.SecretKey;

/** Engines whose values only processes with the keys can read. */
public final class Secrets {
    private Secrets() {}

    // region engine
    /** An engine that encrypts every value. */
    public static PerdureBuilder encrypted(Store store, SecretKey key) {
        EncryptionKeys keys = EncryptionKeys.of("2025", Map.of("2025", key));
        return Perdure.on(store).transform(Encryption.with(keys));
    }
    // endregion

    // region attributes
    static final Attribute<String> EMAIL = Attribute.text("email");

    /** An engine that also encrypts an attribute. */
    public static PerdureBuilder hidden(Store store, EncryptionKeys keys) {
        return Perdure.on(store).transform(Encryption.with(keys).attributes(EMAIL));
    }
    // endregion

    // region rotated
    /** The same with a new key. It encrypts with the new one, and still reads what the old one has encrypted. */
    public static PerdureBuilder rotated(Store store, SecretKey old, SecretKey current) {
        EncryptionKeys keys = EncryptionKeys.of("2026", Map.of("2025", old, "2026", current));
        return Perdure.on(store).transform(Encryption.with(keys));
    }
    // endregion

    // region reencrypted
    /** Encrypts all values with the new key. Returns whether the other keys can be thrown away. */
    public static boolean reencrypted(Perdure perdure) {
        ReencryptionReport report = perdure.encryptedValues().reencrypt("2026").result();
        return report.left().isEmpty();
    }
    // endregion

    // region compressed
    /** An engine that compresses values of more than 4 KiB, and then encrypts all. */
    public static PerdureBuilder compressed(Store store, EncryptionKeys keys) {
        return Perdure.on(store).transform(Compression.over(4096).then(Encryption.with(keys)));
    }
    // endregion

    // region existing
    /** For a store with runs that began before encryption was turned on. */
    public static PerdureBuilder turnedOn(Store store, EncryptionKeys keys) {
        return Perdure.on(store).transform(Encryption.with(keys).readingPlain());
    }
    // endregion
}
