package dev.perdure.http.security;

import dev.perdure.audit.Operator;
import java.util.Objects;

/**
 * Who sends a request. The audit records the name with every command.
 *
 * @param name the name of the person or the program
 * @param role what the caller may do
 */
public record Caller(String name, Role role) {
    /** Checks the name. */
    public Caller {
        Objects.requireNonNull(role, "role");
        Operator.named(name);
    }
}
