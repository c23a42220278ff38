package dev.perdure.internal.execution.value;

import dev.perdure.RunId;
import dev.perdure.internal.time.SeededRandom;
import dev.perdure.spi.shard.Partitions;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.UUID;
import java.util.random.RandomGenerator;

/**
 * Ids and random numbers that are the same on every replay, because they are derived from the run's random seed, its id
 * and the position of the call. The seed distinguishes runs of two databases that use the same ids.
 */
public final class Derived {
    private final RunId id;
    private final long seed;

    public Derived(RunId id, long seed) {
        this.id = id;
        this.seed = seed;
    }

    /** What tells the run from others. It is not kept, because most runs derive little. */
    private byte[] run() {
        byte[] name = id.value().getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(Long.BYTES + name.length)
                .putLong(seed)
                .put(name)
                .array();
    }

    public UUID uuid(int position) {
        return uuid("uuid", position);
    }

    public String idempotencyKey(int position) {
        return uuid("step", position).toString();
    }

    public RandomGenerator random(int position, Runnable check) {
        return SeededRandom.from(digest("random", position).getLong(), check);
    }

    /** The seed of a run that this one starts. */
    public long seed(int position) {
        return digest("seed", position).getLong();
    }

    /** The token of an awakeable in this life. A new life has a new seed. */
    public String token(Tokens tokens, int position) {
        return tokens.of(run(), position);
    }

    /** The same with the partition of the run. */
    public String tokenOfPart(Tokens tokens, int position) {
        return tokens.of(run(), position, Partitions.of(id));
    }

    public UUID uuid(String purpose, int position) {
        ByteBuffer digest = digest(purpose, position);
        long high = (digest.getLong() & 0xFFFF_FFFF_FFFF_0FFFL) | 0x0000_0000_0000_8000L; // version 8: custom
        long low = (digest.getLong() & 0x3FFF_FFFF_FFFF_FFFFL) | 0x8000_0000_0000_0000L;
        return new UUID(high, low);
    }

    private ByteBuffer digest(String purpose, int position) {
        try {
            MessageDigest sha = MessageDigest.getInstance("SHA-256");
            sha.update(run());
            sha.update(purpose.getBytes(StandardCharsets.US_ASCII));
            sha.update(ByteBuffer.allocate(Integer.BYTES).putInt(0, position));
            return ByteBuffer.wrap(sha.digest());
        } catch (NoSuchAlgorithmException everyJdkHasIt) {
            throw new IllegalStateException(everyJdkHasIt);
        }
    }
}
