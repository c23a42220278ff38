package dev.perdure.internal.worker;

import dev.perdure.spi.payload.PayloadReference;
import dev.perdure.spi.payload.PayloadStore;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The payload store as runs use it: a request is repeated until it is answered, and the run waits meanwhile. */
final class PatientPayloads implements PayloadStore {
    private final PayloadStore payloads;
    private final SessionStore session;

    PatientPayloads(PayloadStore payloads, SessionStore session) {
        this.payloads = payloads;
        this.session = session;
    }

    private <T> T answered(String what, PayloadReference reference, Supplier<T> request) {
        return session.untilReached(() -> "%s payload %s".formatted(what, reference.hash()), request);
    }

    @Override
    public void write(UUID upload, int number, byte[] chunk) {
        session.untilReached(() -> "The writing of a large payload", () -> {
            payloads.write(upload, number, chunk);
            return true;
        });
    }

    @Override
    public boolean finish(UUID upload, PayloadReference reference) {
        return answered("The writing of", reference, () -> payloads.finish(upload, reference));
    }

    /** Not repeated: retention removes what is left. */
    @Override
    public void discard(UUID upload) {
        payloads.discard(upload);
    }

    @Override
    public boolean keep(PayloadReference reference) {
        return answered("The writing of", reference, () -> payloads.keep(reference));
    }

    @Override
    public Optional<byte[]> read(PayloadReference reference, int number) {
        return answered("The reading of", reference, () -> payloads.read(reference, number));
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
