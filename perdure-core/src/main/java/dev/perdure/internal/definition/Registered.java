package dev.perdure.internal.definition;

import dev.perdure.Definition;
import dev.perdure.WorkflowContext;
import dev.perdure.error.InvalidRequestException;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * A definition this process can run.
 *
 * @param target its name and types
 * @param origin where it comes from, for messages
 * @param function what to call
 */
public record Registered(Target target, String origin, Function function) {
    /** What the names of the engine's own definitions begin with. */
    public static final String OF_THE_ENGINE = "perdure.";

    /** Whether it is one of the engine's own, whose types need no check. */
    boolean isOfTheEngine() {
        return target.name().startsWith(OF_THE_ENGINE);
    }

    /**
     * What a start needs to know of a definition.
     *
     * @param name the name runs are stored under
     * @param inputType what it takes; {@code void} for nothing
     * @param resultType what it gives; {@code void} for nothing
     */
    public record Target(String name, Type inputType, Type resultType) {
        /** Checks the name: it may come from a start by name, which no definition has seen. */
        public Target {
            if (!isName(name)) {
                throw new InvalidRequestException(
                        "The definition name is null, empty, longer than %d characters or has characters that cannot be stored. Give the name of a workflow."
                                .formatted(Definition.MAX_NAME_LENGTH));
            }
        }

        /** What a start needs to know of a workflow that is a value. */
        public static Target of(Definition<?, ?> definition) {
            if (definition == null) {
                throw new InvalidRequestException("The definition is null. Give one that Definition.of(…) made.");
            }
            return new Target(definition.name(), definition.inputType(), definition.resultType());
        }

        /** A surrogate that comes as a code point of its own lacks its other half. */
        static boolean isName(@Nullable String name) {
            return name != null
                    && !name.isBlank()
                    && name.length() <= Definition.MAX_NAME_LENGTH
                    && name.codePoints()
                            .noneMatch(character -> Character.isISOControl(character)
                                    || Character.getType(character) == Character.SURROGATE);
        }

        /** Whether it takes an input. */
        public boolean takesInput() {
            return inputType != void.class && inputType != Void.class;
        }
    }

    /** The function of a workflow, whatever it was written as. */
    @FunctionalInterface
    public interface Function {
        /** Runs it. What the user's code throws comes out as it is. */
        @Nullable
        Object call(WorkflowContext ctx, @Nullable Object input) throws Throwable;
    }
}
