package dev.perdure.internal.execution.value;

import dev.perdure.RunId;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.MissingPayloadException;
import dev.perdure.error.PayloadException;
import dev.perdure.internal.definition.Registered.Target;
import dev.perdure.internal.payload.EncryptedAttributes;
import dev.perdure.internal.payload.PayloadCodec;
import dev.perdure.internal.text.Sentences;
import dev.perdure.spi.Codec;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.PayloadOutput;
import dev.perdure.spi.payload.PayloadPlace;
import java.lang.reflect.Type;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Encodes values for the store, checks their size, and reads them back at once, so that a value that cannot be replayed
 * is found before it is written.
 */
public final class Values {
    private final PayloadCodec codec;
    private final int maxBytes;
    private final @Nullable RunId run;

    /** With this codec and this limit. */
    public Values(PayloadCodec codec, int maxBytes) {
        this(codec, maxBytes, null);
    }

    private Values(PayloadCodec codec, int maxBytes, @Nullable RunId run) {
        this.codec = codec;
        this.maxBytes = maxBytes;
        this.run = run;
    }

    /** The values of a run. */
    public Values of(RunId other) {
        return new Values(codec, maxBytes, other);
    }

    /** The same for the values of a place. */
    public Values at(PayloadPlace place) {
        return codec.transforms() ? new Values(codec.at(place), maxBytes, run) : this;
    }

    /** The same for what the journal of the run has at a position. Nearly every call asks for it. */
    public Values at(int position) {
        return codec.transforms() ? at(PayloadPlace.entry(run(), position)) : this;
    }

    /** The run whose values these are. */
    public RunId run() {
        return Objects.requireNonNull(run, "These are not the values of one run.");
    }

    /** Whether they are transformed, so that this process can read those of others. */
    public boolean areTransformed() {
        return codec.transforms();
    }

    /** The same without the transform: for values inside another one, which is transformed as a whole. */
    public Values plain() {
        return codec.transforms() ? new Values(codec.transforming(null), maxBytes, run) : this;
    }

    /** A value that was encoded without the transform, as a value of this place. */
    public Payload transformed(Payload plain) {
        return codec.transformed(plain);
    }

    /** The value of a payload at this place as a payload for another place. */
    public Payload moved(Payload payload, PayloadPlace to) {
        return codec.moved(payload, to);
    }

    /** The value of a payload at this place, encrypted with the present key if it was encrypted with another one. */
    public Payload renewed(Payload payload) {
        return codec.renewed(payload);
    }

    /** The attributes of runs that are encrypted. */
    public EncryptedAttributes attributes() {
        return new EncryptedAttributes(codec);
    }

    /** The same, but it stores large values in place too. */
    public Values inline() {
        return new Values(codec.inline(), maxBytes, run);
    }

    /**
     * A value ready to be stored.
     *
     * @param payload its bytes
     * @param copy the value as every replay will see it
     */
    public record Stored(Payload payload, @Nullable Object copy) {}

    /**
     * Encodes a value.
     *
     * @param what names it in messages, such as {@code the result of step 'charge'}
     */
    public Stored store(@Nullable Object value, Type type, String what) {
        try {
            Payload payload = codec.encode(value, type, maxBytes);
            return new Stored(payload, codec.verify(value, payload, type));
        } catch (PayloadException cause) {
            throw new PayloadException(
                    "%s (%s) cannot be stored: %s".formatted(capitalise(what), type.getTypeName(), cause.getMessage()),
                    cause);
        }
    }

    /**
     * The same value, to be recorded now. If it waited for long, it may have been removed as a large value that no run
     * has; then it is stored again.
     */
    public Stored kept(Stored stored, Type type, String what) {
        return codec.keeps(stored.payload()) ? stored : store(stored.copy(), type, what);
    }

    /** Encodes the input of a workflow, a handler or a DAG. */
    public Payload input(CallTarget callee, @Nullable Object input) {
        return input(callee.kind(), callee.target(), input);
    }

    public Payload input(CallTarget.Kind kind, Target target, @Nullable Object input) {
        if (target.takesInput() && input == null) {
            throw new InvalidRequestException(
                    "The input of %s '%s' is null. Give it a %s; a %s that needs none takes %s."
                            .formatted(
                                    kind,
                                    target.name(),
                                    target.inputType().getTypeName(),
                                    kind,
                                    kind == CallTarget.Kind.DAG ? "Void" : "only the context"));
        }
        return store(input, target.inputType(), "the input of " + kind + " '" + target.name() + "'")
                .payload();
    }

    /** Writes the bytes of an input that can be stored, without storing it. */
    public void write(CallTarget callee, @Nullable Object input, PayloadOutput output) {
        codec.encode(input, callee.target().inputType(), output);
    }

    /** The value as the application's codec wrote it, wherever it was stored: for values inside others. */
    public Payload encoded(Payload payload) {
        return codec.encoded(codec.inlined(payload));
    }

    /** Encodes a value of the engine itself. */
    public Payload encode(Object value) {
        return codec.encode(value, value.getClass());
    }

    public <T> T decode(Payload payload, Class<T> type) {
        Object value = codec.decode(payload, type);
        if (value == null) {
            throw new PayloadException("A record of the engine is null where a " + type.getSimpleName() + " belongs.");
        }
        return type.cast(value);
    }

    /** Decodes a user's value. A missing class is a fault of the deployment, like a type that does not fit. */
    public @Nullable Object decode(Payload payload, Type type) {
        try {
            return codec.decode(payload, type);
        } catch (LinkageError missing) {
            throw new PayloadException(
                    "A class that is needed to read it as %s cannot be loaded: %s."
                            .formatted(type.getTypeName(), missing),
                    missing);
        }
    }

    /**
     * Decodes a user's value for a caller outside the run, which states the type.
     *
     * @param what names it at the beginning of a message
     */
    public static @Nullable Object read(Codec codec, Payload payload, Type type, Supplier<String> what) {
        try {
            return codec.decode(payload, type);
        } catch (MissingPayloadException missing) {
            throw new MissingPayloadException("%s cannot be read. %s".formatted(what.get(), missing.getMessage()));
        } catch (PayloadException unreadable) {
            throw new PayloadException(
                    "%s cannot be read. %s Ask for it with the type that it was written with."
                            .formatted(what.get(), Sentences.sentence(String.valueOf(unreadable.getMessage()))),
                    unreadable);
        }
    }

    private static String capitalise(String text) {
        return Character.toUpperCase(text.charAt(0)) + text.substring(1);
    }
}
