package dev.perdure.internal.definition;

import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.io.Serializable;
import java.lang.invoke.SerializedLambda;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads which method a lambda is. A serialisable lambda replaces itself with a {@link SerializedLambda} when it is
 * written. The stream below takes that object and writes nothing more: it never serialises what the lambda captured,
 * and nothing is ever deserialised. This also works in named modules, which refuse reflection on {@code writeReplace}.
 */
final class Lambdas {
    private Lambdas() {}

    /** The description of the lambda; empty for an object of an ordinary class. */
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
