package dev.perdure.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.TypeRef;
import dev.perdure.internal.failure.Failure;
import dev.perdure.internal.json.JsonCodec;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.PayloadReference;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Payloads: what was written comes back; what was changed is read, or refused with a typed exception. */
final class CodecFuzzTest {
    public sealed interface Means permits Card, Cash {}

    public record Card(String number, LocalDate until) implements Means {}

    public record Cash() implements Means {}

    public enum Speed {
        SLOW,
        FAST
    }

    public record Order(
            String item,
            int count,
            long cents,
            double weight,
            boolean paid,
            BigInteger big,
            BigDecimal exact,
            Optional<String> note,
            List<Means> means,
            Map<String, Integer> counts,
            Instant at,
            Duration within,
            ZonedDateTime due,
            UUID token,
            byte[] photo,
            Speed speed) {}

    private static final Type ORDERS = new TypeRef<List<Order>>() {}.type();

    private final JsonCodec codec = new JsonCodec();

    private static String text(Random random) {
        int length = random.nextInt(12);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < length; i++) {
            text.append((char) random.nextInt(random.nextInt(3) == 0 ? 0x10000 : 128));
        }
        return text.toString();
    }

    private static Order order(Random random) {
        return new Order(
                text(random),
                random.nextInt(),
                random.nextLong(),
                random.nextDouble() * Math.pow(10, random.nextInt(600) - 300),
                random.nextBoolean(),
                new BigInteger(random.nextInt(300), random),
                new BigDecimal(new BigInteger(random.nextInt(100), random), random.nextInt(200) - 100),
                random.nextBoolean() ? Optional.empty() : Optional.of(text(random)),
                random.nextBoolean()
                        ? List.of()
                        : List.of(new Card(text(random), LocalDate.ofEpochDay(random.nextInt(90_000))), new Cash()),
                Map.of("k" + random.nextInt(9), random.nextInt()),
                Instant.ofEpochSecond(random.nextInt(), random.nextInt(1_000_000_000)),
                Duration.ofSeconds(random.nextLong() >> 8, random.nextInt(1_000_000_000)),
                ZonedDateTime.parse("2026-10-25T02:30:00+01:00[Europe/Berlin]").plusSeconds(random.nextInt()),
                new UUID(random.nextLong(), random.nextLong()),
                text(random).getBytes(StandardCharsets.UTF_8),
                Speed.values()[random.nextInt(2)]);
    }

    private List<Payload> samples(int count) {
        Random random = new Random(7);
        List<Payload> samples = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            List<Order> orders = List.of(order(random), order(random));
            Payload payload = codec.encode(orders, ORDERS);
            Object back = codec.verify(orders, payload, ORDERS);
            assertThat(codec.encode(back, ORDERS)).isEqualTo(payload);
            assertThat(codec.decode(payload, ORDERS)).usingRecursiveComparison().isEqualTo(orders);
            samples.add(payload);
        }
        return samples;
    }

    private void feed(int count) {
        List<Type> types = List.of(ORDERS, String.class, Long.class, BigDecimal.class, Failure.class, Instant.class);
        Fuzz fuzz = new Fuzz(8, "");
        List<Payload> samples = samples(20);
        List<Payload> failures =
                List.of(codec.encode(Failure.of(new IllegalStateException("no", new Exception("why"))), Failure.class));
        for (int i = 0; i < count; i++) {
            boolean failure = i % 4 == 0;
            List<Payload> from = failure ? failures : samples;
            byte[] bytes = fuzz.changed(from.get(i % from.size()).bytes());
            Type type = failure ? Failure.class : types.get(i % 16 == 1 ? 1 + i % (types.size() - 1) : 0);
            Fuzz.check(bytes, input -> {
                Object read = codec.decode(new Payload(bytes), type);
                if (read instanceof Failure thrown) {
                    thrown.toException();
                }
            });
        }
    }

    @Test
    void values_come_back_and_changed_ones_are_refused_with_a_typed_exception() {
        feed(2 * Fuzz.FEW);
    }

    @Test
    @Tag("thorough")
    void very_many_changed_values_are_refused_with_a_typed_exception() {
        feed(4 * Fuzz.MANY);
    }

    @Test
    void texts_of_numbers_and_times_are_refused_with_a_typed_exception() {
        for (Type type : List.of(
                BigDecimal.class,
                BigInteger.class,
                Double.class,
                Integer.class,
                Duration.class,
                Instant.class,
                ZonedDateTime.class)) {
            new Fuzz(9, "1", "-12.5", "1e5", "\"PT1S\"", "\"2026-01-31T00:00:00Z\"", "\"12\"")
                    .feed(200, text -> codec.decode(new Payload(text.getBytes(StandardCharsets.UTF_8)), type));
        }
    }

    @Test
    void any_bytes_are_a_reference_to_a_payload_or_none() {
        byte[] reference =
                new PayloadReference("ab".repeat(32), 1_000).payload().bytes();
        Random random = new Random(10);
        for (int i = 0; i < 5_000; i++) {
            byte[] bytes = Arrays.copyOf(reference, i % 10 == 0 ? random.nextInt(60) : reference.length);
            for (int changes = random.nextInt(3); changes > 0 && bytes.length > 0; changes--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            Fuzz.check(bytes, input -> PayloadReference.of(new Payload(bytes)).ifPresent(PayloadReference::chunks));
        }
    }
}
