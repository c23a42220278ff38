package dev.perdure.spi.payload;

import dev.perdure.error.PayloadException;
import dev.perdure.spi.change.Payload;
import java.util.Optional;

/**
 * Changes the bytes of encoded values before they are stored, and back: it encrypts or compresses them. The codec knows
 * types and no places; a transform knows places and no types. Implementations are thread-safe. They throw
 * {@link PayloadException} for bytes that they cannot undo.
 *
 * <p>The same value may get other bytes each time. The engine has a copy transformed anew, when it knows that it makes
 * one: of a message that a run takes into its journal, of the result of a child, of the journal of a fork.
 */
public interface PayloadTransform {
    /** Transforms an encoded value that is made for this place. */
    Payload apply(Payload encoded, PayloadPlace place);

    /**
     * Undoes {@link #apply}.
     *
     * @param place the place at which the value was found
     */
    Payload undo(Payload stored, PayloadPlace place);

    /** Whether messages of exceptions must not be stored beside the values, because it hides values. */
    default boolean hidesTexts() {
        return false;
    }

    /**
     * The id of the key with which {@link #apply} encrypts; empty if it does not encrypt. The payloads of a transform
     * with a key are {@linkplain EncryptedPayload encrypted payloads}, so that an operator can have those of other keys
     * encrypted anew.
     */
    default Optional<String> key() {
        return Optional.empty();
    }

    /** This one, and then the other one. Compress before you encrypt: what is encrypted does not get smaller. */
    default PayloadTransform then(PayloadTransform next) {
        PayloadTransform first = this;
        return new PayloadTransform() {
            @Override
            public Payload apply(Payload encoded, PayloadPlace place) {
                return next.apply(first.apply(encoded, place), place);
            }

            @Override
            public Payload undo(Payload stored, PayloadPlace place) {
                return first.undo(next.undo(stored, place), place);
            }

            @Override
            public boolean hidesTexts() {
                return first.hidesTexts() || next.hidesTexts();
            }

            @Override
            public Optional<String> key() {
                return next.key();
            }
        };
    }
}
