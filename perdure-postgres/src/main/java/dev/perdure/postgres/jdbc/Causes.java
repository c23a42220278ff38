package dev.perdure.postgres.jdbc;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The causes of exceptions. What users throw may have its causes in a circle, or throw when it is asked for them. */
public final class Causes {
    private Causes() {}

    /** The exception and its causes, each once, the outermost first. */
    public static List<Throwable> of(Throwable thrown) {
        Set<Throwable> known = Collections.newSetFromMap(new IdentityHashMap<>());
        List<Throwable> chain = new ArrayList<>();
        for (Throwable next = thrown; next != null && known.add(next); next = causeOf(next)) {
            chain.add(next);
        }
        return chain;
    }

    private static @Nullable Throwable causeOf(Throwable thrown) {
        try {
            return thrown.getCause();
        } catch (Throwable odd) {
            return null;
        }
    }
}
