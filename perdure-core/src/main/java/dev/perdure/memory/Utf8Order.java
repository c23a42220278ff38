package dev.perdure.memory;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;

/** The order of texts in a database: by their bytes in UTF-8. */
final class Utf8Order {
    static final Comparator<String> COMPARATOR = (one, other) ->
            Arrays.compareUnsigned(one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));

    private Utf8Order() {}
}
