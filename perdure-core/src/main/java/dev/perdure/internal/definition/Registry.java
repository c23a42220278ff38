package dev.perdure.internal.definition;

import dev.perdure.Definition;
import dev.perdure.WorkflowMethod;
import dev.perdure.error.DefinitionException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.PayloadException;
import dev.perdure.internal.definition.Registered.Target;
import dev.perdure.object.ObjectMethod;
import dev.perdure.reaction.Reaction;
import dev.perdure.spi.Codec;
import java.lang.reflect.Type;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The definitions of one engine. Immutable. */
public final class Registry {
    private final Codec codec;
    private final Map<String, Registered> byName = new LinkedHashMap<>();
    /** Every poll names them all. */
    private final Set<String> names;
    /** As every poll of a worker with a version. */
    private final Set<String> pinned;

    private final ConcurrentMap<Class<?>, Target> methodReferences = new ConcurrentHashMap<>();
    private final ConcurrentMap<Class<?>, ObjectHandler> handlers = new ConcurrentHashMap<>();

    /** Reads and checks all registrations. */
    public Registry(List<Object> registrations, Codec codec) {
        this.codec = codec;
        for (Object registration : registrations) {
            switch (registration) {
                case Definition<?, ?> definition -> add(fromValue(definition));
                case Registered ready -> add(ready);
                case Reaction reaction -> {} // names a definition, and is none
                case Object object
                when ObjectMethods.nameOf(object.getClass()).isPresent() ->
                    ObjectMethods.of(object).forEach(this::add);
                default -> AnnotatedMethods.of(registration).forEach(this::add);
            }
        }
        this.names = Set.copyOf(byName.keySet());
        this.pinned = byName.values().stream()
                .filter(Registered::pinned)
                .map(definition -> definition.target().name())
                .collect(Collectors.toUnmodifiableSet());
    }

    private static <I extends @Nullable Object, R extends @Nullable Object> Registered fromValue(
            Definition<I, R> definition) {
        @SuppressWarnings({"unchecked", "NullAway"}) // the input was decoded as the definition's own input type
        Registered.Function function = (ctx, input) -> definition.body().run(ctx, (I) input);
        return new Registered(
                new Target(definition.name(), definition.inputType(), definition.resultType()),
                "the definition '" + definition.name() + "'",
                function,
                definition.isPinned());
    }

    private void add(Registered definition) {
        Target target = definition.target();
        if (!definition.isOfTheEngine()) {
            check(definition, "input", target.inputType());
            check(definition, "result", target.resultType());
        }
        Registered other = byName.putIfAbsent(target.name(), definition);
        if (other != null) {
            throw new DefinitionException(
                    other.origin().equals(definition.origin())
                            ? "The name '%s' is registered twice, both times by %s. Register it once."
                                    .formatted(target.name(), other.origin())
                            : "The name '%s' is registered twice: by %s and by %s. Give one of them another name."
                                    .formatted(target.name(), other.origin(), definition.origin()));
        }
    }

    private void check(Registered definition, String what, Type type) {
        try {
            codec.check(type);
        } catch (PayloadException unusable) {
            throw new DefinitionException(
                    "The %s of %s cannot be used. %s".formatted(what, definition.origin(), unusable.getMessage()),
                    unusable);
        }
    }

    /** The names of all definitions. */
    public Set<String> names() {
        return names;
    }

    /** The names of the definitions whose runs stay with the version of the worker that begins them. */
    public Set<String> pinned() {
        return pinned;
    }

    /** The names of the definitions among these registrations whose runs stay with a version. */
    public static Stream<String> pinned(List<Object> registrations) {
        return registrations.stream().flatMap(registration -> switch (registration) {
            case Definition<?, ?> definition ->
                definition.isPinned() ? Stream.of(definition.name()) : Stream.<String>empty();
            default -> AnnotatedMethods.pinned(registration.getClass());
        });
    }

    /** The definition with this name, if it is registered here. */
    public Optional<Registered> find(String name) {
        return Optional.ofNullable(byName.get(name));
    }

    /** The workflow that a method reference names. */
    public Target target(WorkflowMethod method) {
        if (method == null) {
            throw new InvalidRequestException(
                    "The workflow is null. Name it by a method reference such as Orders::process.");
        }
        return methodReferences.computeIfAbsent(method.getClass(), unseen -> MethodReferences.target(method));
    }

    /** The handler that a method reference names. */
    public ObjectHandler handler(ObjectMethod method) {
        if (method == null) {
            throw new InvalidRequestException("The handler is null. Name it by a method reference such as Cart::add.");
        }
        return handlers.computeIfAbsent(method.getClass(), unseen -> MethodReferences.handler(method));
    }
}
