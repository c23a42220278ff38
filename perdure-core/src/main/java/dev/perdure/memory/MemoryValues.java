package dev.perdure.memory;

import dev.perdure.RunId;
import dev.perdure.attribute.AttributeValue;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Recorded;
import dev.perdure.spi.payload.StoredValues;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Finds and replaces the bytes of values. It looks at all of them each time. */
final class MemoryValues implements StoredValues {
    private static final int PAGE = 100;
    private static final Comparator<List<String>> ORDER = (one, other) -> {
        for (int i = 0; i < Math.min(one.size(), other.size()); i++) {
            int compared = one.get(i).compareTo(other.get(i));
            if (compared != 0) {
                return compared;
            }
        }
        return Integer.compare(one.size(), other.size());
    };

    private final Tables tables;

    MemoryValues(Tables tables) {
        this.tables = tables;
    }

    /** A value, and how to put other bytes into its place. */
    private record Slot(Site site, Payload payload, Consumer<Payload> putting) {}

    @Override
    public Page read(List<String> after, String key) {
        return tables.inTransaction(() -> {
            List<Value> values = new ArrayList<>();
            long bytes = 0;
            for (Map.Entry<List<String>, Slot> each :
                    slots().tailMap(after, false).entrySet()) {
                Slot slot = each.getValue();
                if (StoredValues.concerns(slot.payload(), key)) {
                    if (values.size() == PAGE || bytes >= PAGE_BYTES) {
                        return new Page(values, values.getLast().address());
                    }
                    values.add(new Value(each.getKey(), slot.site(), slot.payload()));
                    bytes += slot.payload().size();
                }
            }
            return new Page(values, List.of());
        });
    }

    @Override
    public int replace(List<Replacement> replacements) {
        return tables.inTransaction(() -> {
            NavigableMap<List<String>, Slot> slots = slots();
            int replaced = 0;
            for (Replacement each : replacements) {
                Slot slot = slots.get(each.address());
                if (slot != null && slot.payload().equals(each.before())) {
                    slot.putting().accept(each.after());
                    replaced++;
                }
            }
            return replaced;
        });
    }

    private NavigableMap<List<String>, Slot> slots() {
        NavigableMap<List<String>, Slot> slots = new TreeMap<>(ORDER);
        tables.objects.forEachName((object, name) -> slots.put(
                List.of("object_state", object.type(), object.key(), name),
                new Slot(
                        new Site.State(object, name),
                        tables.objects.value(object, name),
                        bytes -> tables.objects.replace(object, name, bytes))));
        tables.byKey.values().forEach(row -> add(slots, row));
        return slots;
    }

    private static void add(NavigableMap<List<String>, Slot> slots, Row row) {
        RunId run = row.ref.id();
        String key = number(row.ref.key());
        slots.put(
                List.of("input", key),
                new Slot(new Site.Input(run), row.start.input(), bytes -> row.start = row.start.withInput(bytes)));
        Payload outcome = row.outcome;
        if (outcome != null) {
            slots.put(List.of("outcome", key), new Slot(new Site.Result(run), outcome, bytes -> row.outcome = bytes));
        }
        row.journal.forEach((place, recorded) -> slots.put(
                List.of("journal", key, number(place.position()), number(place.note())),
                new Slot(
                        position(row, recorded.entry()),
                        recorded.entry().payload(),
                        bytes -> row.journal.put(
                                place, new Recorded(recorded.entry().with(bytes), recorded.at())))));
        row.mailbox.forEachMail((token, mail) -> slots.put(
                List.of("mail", key, token.toString()),
                new Slot(
                        new Site.Mailed(run, mail.channel()),
                        mail.payload(),
                        bytes -> row.mailbox.replace(mail.with(bytes)))));
        for (int i = 0; i < row.published.size(); i++) {
            int index = i;
            Row.Output output = row.published.get(i);
            slots.put(
                    List.of(
                            "publication",
                            key,
                            output.name(),
                            number(output.value().offset())),
                    new Slot(
                            new Site.Published(run, output.name()),
                            output.value().payload(),
                            bytes -> row.published.set(index, output.with(bytes))));
        }
        row.description.attributes().forEach((name, value) -> {
            if (value instanceof AttributeValue.Encrypted encrypted) {
                slots.put(
                        List.of("attribute", key, name),
                        new Slot(
                                new Site.Attribute(run, name),
                                new Payload(Base64.getDecoder().decode(encrypted.base64())),
                                bytes -> put(row, name, bytes)));
            }
        });
        row.reports.forEach((position, kept) -> {
            Payload heartbeat = kept.heartbeat();
            if (heartbeat != null) {
                slots.put(
                        List.of("report", key, number(position)),
                        new Slot(
                                new Site.Position(run, position, null, ""),
                                heartbeat,
                                bytes -> row.reports.put(position, kept.with(bytes))));
            }
        });
    }

    private static void put(Row row, String name, Payload bytes) {
        Map<String, AttributeValue> anew = new TreeMap<>(row.description.attributes());
        anew.put(name, new AttributeValue.Encrypted(Base64.getEncoder().encodeToString(bytes.bytes())));
        row.description = row.description.withAttributes(anew);
    }

    private static Site position(Row row, Entry entry) {
        return new Site.Position(
                row.ref.id(), entry.position(), StoredValues.isState(entry.kind()) ? object(row) : null, entry.name());
    }

    private static @Nullable ObjectKey object(Row row) {
        ObjectCall call = row.start.object();
        return call == null ? null : call.object();
    }

    /** So that the order of texts is that of numbers. */
    private static String number(long number) {
        return String.format(Locale.ROOT, "%020d", number);
    }
}
