package dev.perdure.internal.definition;

import dev.perdure.Definition;
import dev.perdure.Workflow;
import dev.perdure.error.DefinitionException;
import dev.perdure.error.TerminalException;
import dev.perdure.internal.definition.Registered.Target;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.SharedObjectContext;
import dev.perdure.object.VirtualObject;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Finds the handlers of {@link VirtualObject}s. Like {@link AnnotatedMethods}, it searches superclasses and interfaces.
 */
public final class ObjectMethods {
    private ObjectMethods() {}

    /** The name of the object type that a class is, if it is one. */
    static Optional<String> nameOf(@Nullable Class<?> type) {
        if (type == null) {
            return Optional.empty();
        }
        VirtualObject annotation = type.getAnnotation(VirtualObject.class);
        return annotation == null ? nameOf(type.getSuperclass()) : Optional.of(annotation.value());
    }

    /** The name of the object type that a class is. */
    public static String requireName(Class<?> type) {
        String name = nameOf(type)
                .orElseThrow(() -> new DefinitionException(
                        "%s is no virtual object. Annotate the class with @VirtualObject.".formatted(type.getName())));
        if (name.indexOf('/') >= 0) {
            throw new DefinitionException(
                    "%s cannot be a virtual object: its name '%s' contains a '/', which separates the name from the key in run ids. Use another character."
                            .formatted(type.getName(), name));
        }
        return name;
    }

    static List<Registered> of(Object object) {
        Class<?> type = object.getClass();
        Map<String, Method> found = AnnotatedMethods.found(type, Handler.class);
        if (found.isEmpty()) {
            throw new DefinitionException(
                    "%s is a virtual object without a method annotated with @Handler. Annotate one."
                            .formatted(type.getName()));
        }
        Map<String, Method> workflows = AnnotatedMethods.found(type, Workflow.class);
        if (!workflows.isEmpty()) {
            throw new DefinitionException(
                    "%s is a virtual object, and %s is a workflow. Move the workflow to a class of its own."
                            .formatted(
                                    type.getName(),
                                    AnnotatedMethods.describe(
                                            workflows.values().iterator().next())));
        }
        List<Registered> handlers = new ArrayList<>();
        found.values().forEach(method -> handlers.add(registered(object, method)));
        if (found.values().stream().filter(ObjectMethods::once).count() > 1) {
            throw new DefinitionException(
                    "%s has several handlers that run once per key, and their runs would have the same id. Keep once on one of them only."
                            .formatted(type.getName()));
        }
        handlers.add(StateEdits.registered(requireName(type)));
        return handlers;
    }

    /** The handlers of what was registered; none if it is no virtual object. */
    public static List<ObjectHandler> handlers(Object registration) {
        Class<?> type = registration.getClass();
        return nameOf(type).isEmpty()
                ? List.of()
                : AnnotatedMethods.found(type, Handler.class).values().stream()
                        .map(method -> handler(type, method))
                        .toList();
    }

    private static boolean once(Method method) {
        return method.getAnnotation(Handler.class).once();
    }

    private static Registered registered(Object object, Method method) {
        Target target = handler(object.getClass(), method).target();
        Registered.Function function = AnnotatedMethods.invoking(object, method, target.takesInput());
        return new Registered(target, AnnotatedMethods.origin(method), (ctx, input) -> {
            if (!(ctx instanceof SharedObjectContext)) {
                throw new TerminalException(
                        "'%s' is a handler of a virtual object and was started as a workflow. Call it with perdure.object(…)."
                                .formatted(target.name()));
            }
            return function.call(ctx, input);
        });
    }

    /** The handler that an annotated method is, after checking that it can be one. */
    static ObjectHandler handler(Class<?> type, Method method) {
        Handler annotation = method.getAnnotation(Handler.class);
        String object = requireName(type);
        String name = object + "/" + (annotation.value().isEmpty() ? method.getName() : annotation.value());
        if (!Target.isName(object) || !Target.isName(name)) {
            throw unusable(
                    method,
                    "the name '%s' is longer than %s characters or has characters that cannot be stored"
                            .formatted(name, Definition.MAX_NAME_LENGTH));
        }
        int modifiers = method.getModifiers();
        if (Modifier.isStatic(modifiers) || Modifier.isPrivate(modifiers)) {
            throw unusable(method, "it is static or private, so it cannot be called on a registered object");
        }
        if (AnnotatedMethods.isSuspending(method)) {
            throw unusable(method, AnnotatedMethods.SUSPENDING);
        }
        Type[] parameters = method.getGenericParameterTypes();
        boolean exclusive = parameters.length > 0 && parameters[0] == ObjectContext.class;
        boolean shared = parameters.length > 0 && parameters[0] == SharedObjectContext.class;
        if (parameters.length > 2 || !(exclusive || shared)) {
            throw unusable(method, "it must take an ObjectContext or a SharedObjectContext and, optionally, an input");
        }
        if (annotation.once() && shared) {
            throw unusable(method, "it runs once per key, which only an exclusive handler can do");
        }
        Type input = parameters.length == 2 ? parameters[1] : void.class;
        Target target = new Target(name, input, AnnotatedMethods.resultType(method));
        return new ObjectHandler(target, object, exclusive, annotation.once());
    }

    private static DefinitionException unusable(Method method, String why) {
        return new DefinitionException("%s cannot be a handler: %s.".formatted(AnnotatedMethods.describe(method), why));
    }
}
