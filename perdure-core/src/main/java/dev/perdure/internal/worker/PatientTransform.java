package dev.perdure.internal.worker;

import dev.perdure.error.PayloadException;
import dev.perdure.error.StoreException;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.PayloadPlace;
import dev.perdure.spi.payload.PayloadTransform;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The application's transform as runs use it. It may ask a service for its keys. While that does not answer, the request
 * is repeated, and the run waits. A {@link PayloadException} is an answer: it is about the value.
 */
final class PatientTransform implements PayloadTransform {
    private final PayloadTransform transform;
    private final SessionStore session;

    PatientTransform(PayloadTransform transform, SessionStore session) {
        this.transform = transform;
        this.session = session;
    }

    private <T> T answered(String what, Supplier<T> request) {
        return session.untilReached(() -> what, () -> {
            try {
                return request.get();
            } catch (PayloadException | StoreException answer) {
                throw answer;
            } catch (RuntimeException away) {
                throw new StoreException(
                        StoreException.Kind.UNUSABLE,
                        "The %s threw %s".formatted(transform.getClass().getName(), away),
                        away);
            }
        });
    }

    @Override
    public Payload apply(Payload encoded, PayloadPlace place) {
        return answered("The encryption of a value", () -> transform.apply(encoded, place));
    }

    @Override
    public Payload undo(Payload stored, PayloadPlace place) {
        return answered("The decryption of a value", () -> transform.undo(stored, place));
    }

    @Override
    public boolean hidesTexts() {
        return transform.hidesTexts();
    }

    @Override
    public Optional<String> key() {
        return answered("A request for the current key", transform::key);
    }

    @Override
    public boolean encryptsAttribute(String name) {
        return transform.encryptsAttribute(name);
    }
}
