package dev.perdure.shards;

import dev.perdure.spi.payload.PayloadReference;
import dev.perdure.spi.payload.Payloads;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Large payloads. The first shard keeps all of them, and removes one only if all shards say that none of their rows refers
 * to it.
 */
final class ShardedPayloads implements Payloads {
    private final Shards shards;

    ShardedPayloads(Shards shards) {
        this.shards = shards;
    }

    private Payloads own() {
        return shards.store(0).payloads();
    }

    @Override
    public void write(UUID upload, int number, byte[] chunk) {
        own().write(upload, number, chunk);
    }

    @Override
    public boolean finish(UUID upload, PayloadReference reference) {
        return own().finish(upload, reference);
    }

    @Override
    public void discard(UUID upload) {
        own().discard(upload);
    }

    @Override
    public boolean keep(PayloadReference reference) {
        return own().keep(reference);
    }

    @Override
    public Optional<byte[]> read(PayloadReference reference, int number) {
        return own().read(reference, number);
    }

    @Override
    public List<PayloadReference> list(@Nullable PayloadReference after, int limit) {
        return own().list(after, limit);
    }

    @Override
    public int remove(Collection<PayloadReference> unreferred, Collection<PayloadReference> referred, Duration after) {
        return own().remove(unreferred, referred, after);
    }

    @Override
    public int removeUploads(Duration after) {
        return own().removeUploads(after);
    }

    @Override
    public Set<PayloadReference> referred(Collection<PayloadReference> references) {
        Set<PayloadReference> all = new HashSet<>();
        shards.ask(store -> store.payloads().referred(references)).forEach(all::addAll);
        return all;
    }

    @Override
    public boolean takeTurn(Duration rest) {
        return own().takeTurn(rest);
    }
}
