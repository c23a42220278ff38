package dev.perdure.dashboard;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.zip.GZIPOutputStream;

/**
 * A file of the pages, as it is sent.
 *
 * @param type its media type
 * @param bytes its content
 * @param zipped its content, compressed
 * @param tag identifies this content to caches
 */
@SuppressWarnings("ArrayRecordComponent") // written once and never compared
record Asset(String type, byte[] bytes, byte[] zipped, String tag) {
    static Asset of(String type, byte[] bytes) {
        String tag = "\"" + HexFormat.of().formatHex(sha256(bytes), 0, 16) + "\"";
        return new Asset(type, bytes, zip(bytes), tag);
    }

    static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("Every JDK has SHA-256.", missing);
        }
    }

    private static byte[] zip(byte[] bytes) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(bytes.length / 2);
        try (GZIPOutputStream zip = new GZIPOutputStream(out)) {
            zip.write(bytes);
        } catch (IOException inMemory) {
            throw new UncheckedIOException(inMemory);
        }
        return out.toByteArray();
    }
}
