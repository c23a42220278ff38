package dev.perdure.internal.reencryption;

import dev.perdure.bulk.ReencryptionReport;
import dev.perdure.error.PayloadException;
import dev.perdure.internal.payload.PayloadCodec;
import dev.perdure.internal.reencryption.ReencryptionState.Rewritten;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.StoredValues;
import dev.perdure.spi.payload.StoredValues.Replacement;
import dev.perdure.spi.payload.StoredValues.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Encrypts values anew, some at a time. Done again after a crash, it finds those that are left. It replaces only bytes
 * that are still those that it has read, so it does no harm to runs that are at work, and none if two workers do it.
 */
final class ValueRewriter {
    /** How many pages, and about how many values, one step looks at. */
    private static final int PAGES = 20;

    private static final int ENOUGH = 500;

    private final StoredValues values;
    private final PossiblePlaces places;
    private final PayloadCodec codec;

    ValueRewriter(Store store, PayloadCodec codec) {
        this.values = store.values();
        this.places = new PossiblePlaces(store.runs(), store.journals());
        this.codec = codec;
    }

    /** The id of the key with which this process encrypts. */
    String key() {
        return codec.key().orElseThrow();
    }

    Rewritten rewrite(String key, List<String> from) {
        List<String> reached = from;
        ReencryptionReport report = ReencryptionReport.none(key);
        int seen = 0;
        for (int page = 0; page < PAGES && seen < ENOUGH; page++) {
            StoredValues.Page found = values.read(reached, key);
            report = report.plus(rewrite(key, found));
            seen += found.values().size();
            reached = found.reached();
            if (reached.isEmpty()) {
                break;
            }
        }
        return new Rewritten(reached, report);
    }

    private ReencryptionReport rewrite(String key, StoredValues.Page page) {
        Map<String, Long> found = new TreeMap<>();
        List<String> reasons = new ArrayList<>();
        List<Replacement> replacements = new ArrayList<>();
        for (Value value : page.values()) {
            try {
                Optional<String> other = codec.keyOf(value.payload()).filter(id -> !id.equals(key));
                if (other.isPresent()) {
                    found.merge(other.get(), 1L, Long::sum);
                    replacements.add(new Replacement(value.address(), value.payload(), anew(value, key)));
                }
            } catch (PayloadException unreadable) {
                reasons.add(String.valueOf(unreadable.getMessage()));
            }
        }
        int replaced = replacements.isEmpty() ? 0 : values.replace(replacements);
        return new ReencryptionReport(key, replaced, found, reasons);
    }

    private Payload anew(Value value, String key) {
        PayloadCodec ofSite = value.site() instanceof StoredValues.Site.Attribute ? codec.inline() : codec;
        Payload anew = ofSite.anew(value.payload(), places.of(value.site()));
        if (!codec.keyOf(anew).equals(Optional.of(key))) {
            throw new PayloadException(
                    "The key of this process is not '%s' any more. Do it again with the key that all processes have."
                            .formatted(key));
        }
        return anew;
    }
}
