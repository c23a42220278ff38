package dev.perdure.spi.payload;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.PayloadException;
import dev.perdure.spi.change.Payload;
import java.util.Optional;

/**
 * Changes the bytes of encoded values before they are stored, and back: it encrypts or compresses them. The codec knows
 * types and no places; a transform knows places and no types. Implementations are thread-safe. They throw
 * {@link PayloadException} for bytes that they cannot undo. Any other exception means that they cannot work for now: runs
 * wait and try again, and callers get the exception.
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

    /**
     * Whether it also encrypts the values of the attribute of this name. Runs cannot be found by them then. Only a
     * transform with a {@link #key} does.
     */
    default boolean encryptsAttribute(String name) {
        return false;
    }

    /**
     * This one, and then the other one. Compress before you encrypt: what is encrypted does not get smaller.
     *
     * @throws InvalidRequestException if this one hides values, and the other one does not
     */
    default PayloadTransform then(PayloadTransform next) {
        PayloadTransform first = this;
        if (first.hidesTexts() && !next.hidesTexts()) {
            throw new InvalidRequestException(
                    "%s is to transform values that %s has encrypted. These do not get smaller, and the engine could not see their key. Encrypt last, as in Compression.over(4096).then(Encryption.with(keys))."
                            .formatted(
                                    next.getClass().getSimpleName(),
                                    first.getClass().getSimpleName()));
        }
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

            @Override
            public boolean encryptsAttribute(String name) {
                return first.encryptsAttribute(name) || next.encryptsAttribute(name);
            }
        };
    }
}
