package dev.perdure.internal.payload;

import dev.perdure.spi.payload.PayloadReference;
import dev.perdure.spi.payload.PayloadStore;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Forwards to another payload store. Tests override what they change. */
class ForwardingPayloads implements PayloadStore {
    private final PayloadStore payloads;

    ForwardingPayloads(PayloadStore payloads) {
        this.payloads = payloads;
    }

    @Override
    public void write(UUID upload, int number, byte[] chunk) {
        payloads.write(upload, number, chunk);
    }

    @Override
    public boolean finish(UUID upload, PayloadReference reference) {
        return payloads.finish(upload, reference);
    }

    @Override
    public void discard(UUID upload) {
        payloads.discard(upload);
    }

    @Override
    public boolean keep(PayloadReference reference) {
        return payloads.keep(reference);
    }

    @Override
    public Optional<byte[]> read(PayloadReference reference, int number) {
        return payloads.read(reference, number);
    }

    @Override
    public List<PayloadReference> list(@Nullable PayloadReference after, int limit) {
        return payloads.list(after, limit);
    }

    @Override
    public int remove(Collection<PayloadReference> unreferred, Collection<PayloadReference> referred, Duration after) {
        return payloads.remove(unreferred, referred, after);
    }

    @Override
    public int removeUploads(Duration after) {
        return payloads.removeUploads(after);
    }
}
