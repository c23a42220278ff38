package dev.perdure.internal.handle;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.settings.Settings;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.payload.EncryptedPayload;

/** Runs whose values are encrypted, as processes without the keys see them: the command line, for example. */
final class EncryptedRuns {
    private EncryptedRuns() {}

    /** Refuses to write values of such a run in a process that cannot encrypt them: no worker could read them. */
    static void requireTransform(Settings settings, RunRef run, String what) {
        if (settings.rules().codec().transforms()) {
            return;
        }
        settings.store()
                .runs()
                .basis(run)
                .flatMap(basis -> EncryptedPayload.of(basis.input()))
                .ifPresent(encrypted -> {
                    throw new InvalidRequestException(
                            "The values of run '%s' are encrypted with the key '%s', and this process has no keys. %s it in a process that has them."
                                    .formatted(run.id(), encrypted.key(), what));
                });
    }
}
