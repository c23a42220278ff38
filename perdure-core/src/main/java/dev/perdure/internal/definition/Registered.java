package dev.perdure.internal.definition;

import dev.perdure.Definition;
import dev.perdure.RunId;
import dev.perdure.WorkflowContext;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.spi.Runs;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * A definition that this process can run.
 *
 * @param target its name and types
 * @param origin where it comes from, for messages
 * @param function what to call
 * @param pinned whether its runs stay with the version of the worker that begins them
 */
public record Registered(Target target, String origin, Function function, boolean pinned) {
    /** A definition whose runs move to any version. */
    public Registered(Target target, String origin, Function function) {
        this(target, origin, function, false);
    }

    /** Whether it is one of the engine's own, whose types need no check. */
    boolean isOfTheEngine() {
        return target.name().startsWith(Runs.OF_THE_ENGINE);
    }

    /**
     * The name and types of a definition: what a start needs.
     *
     * @param name the name under which the store keeps the runs
     * @param inputType the type of its input; {@code void} if it has none
     * @param resultType the type of its result; {@code void} if it has none
     */
    public record Target(String name, Type inputType, Type resultType) {
        /** Checks the name, which may come from a start by name and belong to no definition. */
        public Target {
            if (!isName(name)) {
                throw new InvalidRequestException(
                        "The definition name is null, empty, longer than %s characters or has characters that cannot be stored. Give the name of a workflow."
                                .formatted(Definition.MAX_NAME_LENGTH));
            }
        }

        /** The name and types of a workflow that is a value. */
        public static Target of(Definition<?, ?> definition) {
            if (definition == null) {
                throw new InvalidRequestException("The definition is null. Give one that Definition.of(…) made.");
            }
            return new Target(definition.name(), definition.inputType(), definition.resultType());
        }

        /** A surrogate that is a code point by itself lacks its other half. */
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

    /** The function of a workflow, however the user defined it. */
    @FunctionalInterface
    public interface Function {
        /** Runs it. Throws what the user's code throws. */
        @Nullable
        Object call(WorkflowContext ctx, @Nullable Object input) throws Throwable;

        /** The run for which the input was made: the run itself, unless it shares the input of another one. */
        default RunId inputOwner(RunId run) {
            return run;
        }
    }
}
