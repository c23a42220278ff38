package dev.perdure.version;

import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;

/**
 * A live worker as the store has it.
 *
 * @param id its id, which is another one each time that its process joins
 * @param version the version of its code, if it has one
 * @param definitions what it has registered, by name, without the engine's own definitions
 * @param queues the queues from which it takes runs, by name; empty if the store does not know them
 * @param labels its labels, its id among them
 * @param leaseUntil when its lease ends, unless it renews it
 * @param held how many runs it holds
 * @param heap the heap of its process when it last renewed its lease; empty before that
 * @param drains those of its definitions of which it takes no more runs but those pinned to its version, by name
 */
public record WorkerInfo(
        UUID id,
        Optional<String> version,
        List<String> definitions,
        List<String> queues,
        Map<String, String> labels,
        Instant leaseUntil,
        int held,
        Optional<Heap> heap,
        List<String> drains) {
    /**
     * The heap of a Java process.
     *
     * @param used how many bytes are in use, with what the next collection frees
     * @param max how many bytes it may have
     */
    public record Heap(long used, long max) {
        /** The heap of this process now. */
        public static Heap now() {
            Runtime process = Runtime.getRuntime();
            return new Heap(process.totalMemory() - process.freeMemory(), process.maxMemory());
        }
    }

    /** Copies the collections. */
    public WorkerInfo {
        definitions = List.copyOf(definitions);
        queues = List.copyOf(queues);
        labels = Collections.unmodifiableMap(new TreeMap<>(labels));
        drains = List.copyOf(drains);
    }

    /** Whether it takes no runs but those pinned to its version. */
    public boolean isDraining() {
        return !definitions.isEmpty() && drains.containsAll(definitions);
    }
}
