package dev.perdure.internal.handle;

import dev.perdure.ForkOptions;
import dev.perdure.RunId;
import dev.perdure.attribute.AttributeValue;
import dev.perdure.error.PayloadException;
import dev.perdure.error.UnknownRunException;
import dev.perdure.internal.payload.EncryptedAttributes;
import dev.perdure.internal.payload.PayloadCodec;
import dev.perdure.internal.settings.Settings;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Recorded;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.payload.PayloadPlace;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Makes the change that forks a run. The store copies the input and the journal of the other run. If a transform binds
 * values to their places, it cannot do that: then this class reads them, and the change has them as values of the new
 * run.
 */
public final class ForkWriter {
    private static final int PAGE_BYTES = 1024 * 1024;

    private final Settings settings;
    private final PayloadCodec codec;

    /** For the runs of an engine with these settings. */
    public ForkWriter(Settings settings) {
        this.settings = settings;
        this.codec = settings.rules().codec();
    }

    /** A fork under an id that follows from the seed. */
    public Change.Fork fork(RunRef from, int position, long seed) {
        EncryptedRuns.requireTransform(settings, from, "Fork it");
        return fork(from, ForkOptions.from(position), id(from.id(), seed), seed);
    }

    /** If the store has several parts, the fork has to be in the same as the run: then only what is before a slash counts. */
    RunId id(RunId from, long random) {
        String separator = settings.parts().stores().size() == 1 ? "-fork-" : "/fork-";
        return RunId.of(from + separator + Long.toHexString(random));
    }

    /** The seed identifies the fork, together with the id, so all attempts at it have the same. */
    Change.Fork fork(RunRef from, ForkOptions options, RunId id, long seed) {
        Payload given = options.hasInput() ? given(options.input(), id) : null;
        if (!codec.transforms()) {
            return new Change.Fork(
                    from.id(), options.position(), id, seed, given, null, options.isCompensatedAllowed(), null);
        }
        // The seed comes first, and with the input: the store sees from it whether all the rest is of the same life.
        Runs.Basis basis = settings.store()
                .runs()
                .basis(from)
                .orElseThrow(() -> new UnknownRunException(
                        "There is no run '%s'. Check the id; retention may have removed it.".formatted(from.id())));
        Payload input = given == null
                ? codec.at(PayloadPlace.input(from.id())).moved(basis.input(), PayloadPlace.input(id))
                : given;
        List<Entry> entries = entries(from, options.position(), id);
        // Last, because a live run may change them at any time, and a long journal takes a while to read.
        Map<String, AttributeValue> attributes = attributes(from);
        Change.Fork.Copy copy = new Change.Fork.Copy(
                basis.seed(), entries, attributes, new EncryptedAttributes(codec).copied(from.id(), attributes, id));
        return new Change.Fork(
                from.id(), options.position(), id, seed, input, copy, options.isCompensatedAllowed(), null);
    }

    private Payload given(@Nullable Object value, RunId id) {
        Type type = value == null ? Void.class : value.getClass();
        try {
            return codec.at(PayloadPlace.input(id))
                    .encode(value, type, settings.rules().maxPayloadBytes());
        } catch (PayloadException cause) {
            throw new PayloadException(
                    "The input of the fork (%s) cannot be stored: %s".formatted(type.getTypeName(), cause.getMessage()),
                    cause);
        }
    }

    /** As they are stored. */
    private Map<String, AttributeValue> attributes(RunRef from) {
        return settings.store()
                .runs()
                .find(from.id())
                .map(found -> found.info().description().attributes())
                .orElse(Map.of());
    }

    /** All entries before a position: the store sees from them whether the run has recorded others since. */
    private List<Entry> entries(RunRef from, int position, RunId id) {
        List<Entry> entries = new ArrayList<>();
        int last = 0;
        Journals.Page page;
        do {
            page = settings.store().journals().read(from, last, PAGE_BYTES);
            for (Recorded recorded : page.entries()) {
                Entry entry = recorded.entry();
                last = entry.position();
                if (last < position) {
                    entries.add(hasValue(entry) ? moved(entry, from.id(), id) : entry);
                }
            }
        } while (!page.last() && last < position);
        return entries;
    }

    /** Whether an entry has a value of the application. The others have none, or one of the engine. */
    private static boolean hasValue(Entry entry) {
        boolean encoded = switch (entry.status()) {
            case VALUE, FAILURE, ATTEMPT -> true;
            case BEGUN, CANCELLED, DEADLINE, ABSENT, HEADERS, UNKNOWN -> false;
        };
        return encoded
                && entry.isKnown()
                && entry.kind() != Entry.Kind.PATCH
                && entry.payload().size() > 0;
    }

    private Entry moved(Entry entry, RunId from, RunId to) {
        Payload anew = codec.at(PayloadPlace.entry(from, entry.position()))
                .moved(entry.payload(), PayloadPlace.entry(to, entry.position()));
        return entry.with(anew);
    }
}
