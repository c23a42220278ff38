package dev.perdure.http.internal.client;

import dev.perdure.http.security.Webhook;
import java.util.Set;

/**
 * A webhook that the API takes.
 *
 * @param check checks the signature
 * @param definitions the definitions whose awakeables it answers; if empty, those of all
 */
public record DeclaredWebhook(Webhook check, Set<String> definitions) {
    /** Copies the definitions. */
    public DeclaredWebhook {
        definitions = Set.copyOf(definitions);
    }

    /** Whether the awakeables of runs of this definition are answered through it, and not by their token alone. */
    boolean isFor(String definition) {
        return definitions.isEmpty() || definitions.contains(definition);
    }
}
