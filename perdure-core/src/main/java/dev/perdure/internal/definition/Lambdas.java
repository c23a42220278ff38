package dev.perdure.internal.definition;

import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.io.Serializable;
import java.lang.invoke.SerializedLambda;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Asks a lambda what it is. A serialisable lambda replaces itself by a {@link SerializedLambda} when it is written; the
 * stream below takes that and writes nothing more: what the lambda captured is never serialised, and nothing is ever
 * deserialised. This works in named modules too, where reflection on {@code writeReplace} is refused.
 */
final class Lambdas {
    private Lambdas() {}

    /** What the lambda is, or empty for an object of an ordinary class. */
    static Optional<SerializedLambda> describe(Serializable lambda) {
        try (Catcher catcher = new Catcher()) {
            catcher.writeObject(lambda);
            return Optional.ofNullable(catcher.caught);
        } catch (IOException | RuntimeException ordinary) {
            return Optional.empty();
        }
    }

    private static final class Catcher extends ObjectOutputStream {
        private @Nullable SerializedLambda caught;

        Catcher() throws IOException {
            super(OutputStream.nullOutputStream());
            enableReplaceObject(true);
        }

        @Override
        protected @Nullable Object replaceObject(Object object) {
            if (object instanceof SerializedLambda lambda) {
                caught = lambda;
            }
            return null;
        }
    }
}
