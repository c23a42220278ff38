package dev.perdure.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.perdure.error.PerdureException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Inputs for everything that parses: examples, the same with small changes, and pieces of them put together. A parser
 * may return a value or throw a {@link PerdureException}. It takes little time and memory, whatever the input.
 */
final class Fuzz {
    static final int FEW = 1_000;
    static final int MANY = 20_000;

    private static final Duration LONGEST = Duration.ofSeconds(5);
    private static final long MOST_BYTES = 64L << 20;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private static final List<String> PIECES = List.of(
            "",
            " ",
            "\u0000",
            "\n",
            "\uD800",
            "😀",
            "-",
            "+",
            "/",
            "=",
            ">=",
            ":",
            "\"",
            "'",
            "%s",
            "${schema}",
            "0",
            "-1",
            "99999999999999999999",
            "2147483648",
            "1e999999999",
            "1E-2147483647",
            "NaN",
            "PT1S",
            "PT-1S",
            "P999999999999D",
            "+1000000000-12-31T23:59:59.999999999Z",
            "-1000000000-01-01T00:00:00Z",
            "null",
            "true");

    private final Random random;
    private final List<String> examples;

    Fuzz(long seed, String... examples) {
        this.random = new Random(seed);
        this.examples = List.of(examples);
    }

    /** Something that parses. */
    interface Parser {
        void parse(String input);
    }

    /** Whatever the input, only typed exceptions come out, soon, and without much memory. */
    void feed(int count, Parser parser) {
        examples.forEach(example -> check(example, parser));
        PIECES.forEach(piece -> check(piece, parser));
        for (String example : examples) {
            for (int length : new int[] {1_000, 100_000}) {
                check(example.repeat(length / Math.max(1, example.length()) + 1), parser);
            }
        }
        for (int i = 0; i < count; i++) {
            check(next(), parser);
        }
    }

    String next() {
        StringBuilder text = new StringBuilder(examples.get(random.nextInt(examples.size())));
        for (int changes = 1 + random.nextInt(4); changes > 0; changes--) {
            change(text);
        }
        return text.toString();
    }

    private void change(StringBuilder text) {
        int from = random.nextInt(text.length() + 1);
        int to = Math.min(text.length(), from + random.nextInt(4));
        switch (random.nextInt(6)) {
            case 0 -> text.delete(from, to);
            case 1 -> text.insert(from, PIECES.get(random.nextInt(PIECES.size())));
            case 2 -> text.replace(from, to, PIECES.get(random.nextInt(PIECES.size())));
            case 3 -> text.insert(from, (char) random.nextInt(random.nextInt(4) == 0 ? 0x10000 : 128));
            case 4 -> text.insert(from, text.substring(from, to).repeat(random.nextInt(5)));
            default -> text.append(examples.get(random.nextInt(examples.size())));
        }
    }

    /** Bytes with some of them changed, cut off or repeated. */
    byte[] changed(byte[] bytes) {
        byte[] changed =
                Arrays.copyOf(bytes, random.nextInt(4) == 0 ? random.nextInt(bytes.length + 10) : bytes.length);
        for (int i = random.nextInt(5); i > 0 && changed.length > 0; i--) {
            String likely = "0123456789\"{}[],:.eE+-\\ntfu";
            changed[random.nextInt(changed.length)] = (byte)
                    (random.nextInt(3) == 0 ? random.nextInt(256) : likely.charAt(random.nextInt(likely.length())));
        }
        return changed;
    }

    static void check(String input, Parser parser) {
        String shown = input.length() > 200 ? input.substring(0, 200) + "… of " + input.length() : input;
        long began = System.nanoTime();
        long before = THREADS.getCurrentThreadAllocatedBytes();
        try {
            parser.parse(input);
        } catch (PerdureException refused) {
            assertThat(refused.getMessage()).as(shown).isNotBlank();
        } catch (RuntimeException | Error other) {
            throw new AssertionError("Not a typed exception for: " + shown, other);
        }
        assertThat(THREADS.getCurrentThreadAllocatedBytes() - before)
                .as("bytes for: %s", shown)
                .isLessThan(MOST_BYTES);
        assertThat(Duration.ofNanos(System.nanoTime() - began))
                .as("time for: %s", shown)
                .isLessThan(LONGEST);
    }

    static void check(byte[] input, Parser parser) {
        check(new String(input, StandardCharsets.ISO_8859_1), parser);
    }
}
