package dev.perdure.internal.payload;

import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.attribute.AttributeValue;
import dev.perdure.attribute.Condition;
import dev.perdure.attribute.Description;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.PayloadException;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.PayloadPlace;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.TreeMap;

/**
 * The attributes of runs that a transform encrypts. An engine encrypts them where it makes a run or sets an attribute,
 * and decrypts them where it shows a run; in between, and for stores, they are encrypted values like any other attribute.
 */
public final class EncryptedAttributes {
    private final PayloadCodec codec;

    /** Those that the transform of this codec encrypts. */
    public EncryptedAttributes(PayloadCodec codec) {
        this.codec = codec.inline();
    }

    // ---- writing

    /** The description of a run as it is stored. */
    public Description encrypted(RunId run, Description plain) {
        Map<String, AttributeValue> stored = new TreeMap<>(plain.attributes());
        stored.replaceAll((name, value) -> encrypted(run, name, value));
        return stored.equals(plain.attributes()) ? plain : plain.withAttributes(stored);
    }

    /** An attribute of a run as it is stored. */
    public AttributeValue encrypted(RunId run, String name, AttributeValue plain) {
        return codec.encryptsAttribute(name) ? sealed(run, name, plain) : plain;
    }

    private AttributeValue sealed(RunId run, String name, AttributeValue plain) {
        Payload encoded = new Payload(plain.encoded().getBytes(StandardCharsets.UTF_8));
        Payload sealed = codec.at(PayloadPlace.attribute(run, name)).transformed(encoded);
        return new AttributeValue.Encrypted(Base64.getEncoder().encodeToString(sealed.bytes()));
    }

    /**
     * The attributes of a run for a copy of it: those that are encrypted are encrypted anew, and those in clear that are
     * to be encrypted by now are encrypted.
     *
     * @throws PayloadException if one of them cannot be decrypted
     */
    public Map<String, AttributeValue> copied(RunId from, Map<String, AttributeValue> stored, RunId to) {
        Map<String, AttributeValue> copied = new TreeMap<>(stored);
        copied.replaceAll((name, value) -> switch (value) {
            case AttributeValue.Encrypted sealed -> sealed(to, name, opened(from, name, sealed));
            case AttributeValue.Unreadable unreadable -> unreadable;
            default -> encrypted(to, name, value);
        });
        return copied;
    }

    // ---- reading

    /** A run as it is shown. An attribute that cannot be decrypted stays encrypted, so that the others can be seen. */
    public RunInfo decrypted(RunInfo stored) {
        Description before = stored.description();
        if (!codec.transforms() || before.attributes().isEmpty()) {
            return stored;
        }
        Map<String, AttributeValue> shown = new TreeMap<>(before.attributes());
        shown.replaceAll((name, value) -> decrypted(stored.id(), name, value));
        return new RunInfo(
                stored.id(),
                stored.definition(),
                stored.state(),
                stored.reason(),
                stored.createdAt(),
                stored.changedAt(),
                stored.wakeAt(),
                stored.recoveries(),
                stored.awaited(),
                before.withAttributes(shown));
    }

    private AttributeValue decrypted(RunId run, String name, AttributeValue stored) {
        if (!(stored instanceof AttributeValue.Encrypted sealed)) {
            return stored;
        }
        try {
            return opened(run, name, sealed);
        } catch (RuntimeException unreadable) { // also of an application's own keys and transforms
            return stored;
        }
    }

    private AttributeValue opened(RunId run, String name, AttributeValue.Encrypted sealed) {
        try {
            Payload payload = new Payload(Base64.getDecoder().decode(sealed.base64()));
            Payload encoded = codec.at(PayloadPlace.attribute(run, name)).encoded(payload);
            return AttributeValue.decoded(new String(encoded.bytes(), StandardCharsets.UTF_8));
        } catch (IllegalArgumentException | InvalidRequestException damaged) {
            throw new PayloadException(
                    "The attribute '%s' of run '%s' cannot be read: %s".formatted(name, run, damaged.getMessage()),
                    damaged);
        }
    }

    /**
     * Refuses a filter that compares an encrypted attribute.
     *
     * @throws InvalidRequestException if it does
     */
    public void requireNoneIn(RunFilter filter) {
        for (Condition condition : filter.conditions()) {
            if (codec.encryptsAttribute(condition.name())) {
                throw new InvalidRequestException(
                        "The attribute '%1$s' is encrypted, so no run is found by it. Find the runs by another attribute: for example, start them with a keyed hash of '%1$s' too, and look for the hash."
                                .formatted(condition.name()));
            }
        }
    }
}
