package dev.perdure;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The interfaces that every user reads stay small. A new option is a method of an options value, a new thing to run is
 * a factory of {@link Invocation}, a part of its own such as {@link Perdure#audit} or {@link Operations#runs} is one
 * accessor; if another method is really needed, one has to go. The limit of a context was 40 before
 * {@link WorkflowContext#attribute} and {@link WorkflowContext#status}, for which none has gone yet.
 */
class ApiSizeTest {
    @Test
    void a_context_has_at_most_42_methods() {
        assertThat(methods(WorkflowContext.class)).hasSizeBetween(10, 42);
    }

    @Test
    void an_engine_has_at_most_20_methods() {
        assertThat(methods(Perdure.class))
                .filteredOn(method -> !method.endsWith(".audit()") && !method.endsWith(".status()"))
                .hasSizeBetween(10, 20);
    }

    @Test
    void an_outbox_has_at_most_12_methods() {
        assertThat(methods(Outbox.class)).hasSizeBetween(5, 12);
    }

    private static List<String> methods(Class<?> type) {
        return Arrays.stream(type.getDeclaredMethods())
                .filter(method -> !Modifier.isStatic(method.getModifiers()) && !method.isSynthetic())
                .map(Method::toGenericString)
                .sorted()
                .toList();
    }
}
