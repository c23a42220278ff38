package dev.perdure.internal.handle;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.settings.Settings;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.payload.EncryptedPayload;
import java.util.stream.Stream;

/** Runs whose values are encrypted, as processes without the keys see them: the command line, for example. */
final class EncryptedRuns {
    private static final int PAGE_BYTES = 256 * 1024;

    private EncryptedRuns() {}

    /**
     * Refuses to write values of such a run in a process that cannot encrypt them: no worker could read them.
     *
     * @param what what to do elsewhere
     */
    static void requireTransform(Settings settings, RunRef run, String what) {
        if (settings.rules().codec().transforms()) {
            return;
        }
        Stream<Payload> input = settings.store().runs().basis(run).map(Runs.Basis::input).stream();
        Stream<Payload> recorded = settings.store().journals().read(run, 0, PAGE_BYTES).entries().stream()
                .map(entry -> entry.entry().payload()); // SQL may have started it, with a plain input.
        Stream<EncryptedPayload> attributes = settings.store().runs().find(run.id()).stream()
                .flatMap(found -> found.info().description().attributes().values().stream())
                .flatMap(value -> EncryptedPayload.of(value).stream());
        Stream.concat(
                        Stream.concat(input, recorded).flatMap(payload -> EncryptedPayload.of(payload).stream()),
                        attributes)
                .findFirst()
                .ifPresent(encrypted -> {
                    throw new InvalidRequestException(
                            "The values of run '%s' are encrypted with the key '%s', and this process has no keys. %s in a process that has them."
                                    .formatted(run.id(), encrypted.key(), what));
                });
    }
}
