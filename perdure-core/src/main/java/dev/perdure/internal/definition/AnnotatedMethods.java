package dev.perdure.internal.definition;

import dev.perdure.Definition;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.error.DefinitionException;
import dev.perdure.internal.definition.Registered.Target;
import dev.perdure.object.Handler;
import java.lang.annotation.Annotation;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Finds {@link Workflow} methods. It also searches superclasses and interfaces, because frameworks wrap objects in
 * subclass proxies: the annotation is on the parent, and the call goes to the proxy.
 */
final class AnnotatedMethods {
    /** Why a suspend function of Kotlin is refused. */
    static final String SUSPENDING =
            "it is a suspend function, and its coroutine would end with the process, while a run does not. Remove 'suspend': the engine suspends a run by itself where it waits";

    private AnnotatedMethods() {}

    static List<Registered> of(Object object) {
        Map<String, Method> found = found(object.getClass(), Workflow.class);
        if (found.isEmpty()) {
            throw new DefinitionException(whyNone(object));
        }
        List<Registered> definitions = new ArrayList<>();
        found.values().forEach(method -> definitions.add(registered(object, method)));
        return definitions;
    }

    private static String whyNone(Object object) {
        if (object instanceof Class<?> type) {
            return "The class %s was registered, and workflows are called on an object. Register an instance: new %s(…)."
                    .formatted(type.getName(), type.getSimpleName());
        }
        String name = object.getClass().getName();
        return found(object.getClass(), Handler.class).isEmpty()
                ? "%s has no method annotated with @Workflow. Annotate one, or register a Definition.of(…)."
                        .formatted(name)
                : "%s has @Handler methods and is no virtual object. Annotate the class with @VirtualObject."
                        .formatted(name);
    }

    /** The annotated methods, by their signatures. */
    static Map<String, Method> found(Class<?> type, Class<? extends Annotation> annotation) {
        Map<String, Method> found = new LinkedHashMap<>();
        collect(type, annotation, found);
        return found;
    }

    private static void collect(Class<?> type, Class<? extends Annotation> annotation, Map<String, Method> found) {
        for (Method method : type.getDeclaredMethods()) {
            if (method.isAnnotationPresent(annotation) && !method.isBridge()) {
                found.putIfAbsent(method.getName() + List.of(method.getParameterTypes()), method);
            }
        }
        if (type.getSuperclass() != null) {
            collect(type.getSuperclass(), annotation, found);
        }
        for (Class<?> parent : type.getInterfaces()) {
            collect(parent, annotation, found);
        }
    }

    private static Registered registered(Object object, Method method) {
        Target target = target(method);
        boolean pinned = method.getAnnotation(Workflow.class).pinned();
        return new Registered(target, origin(method), invoking(object, method, target.takesInput()), pinned);
    }

    /** The names of the workflows of a class whose runs stay with a version. */
    static Stream<String> pinned(Class<?> type) {
        return found(type, Workflow.class).values().stream()
                .map(method -> method.getAnnotation(Workflow.class))
                .filter(Workflow::pinned)
                .map(Workflow::value);
    }

    /** Calls the method on the object. */
    static Registered.Function invoking(Object object, Method method, boolean takesInput) {
        try {
            method.setAccessible(true);
        } catch (InaccessibleObjectException closed) {
            throw new DefinitionException(
                    "%s cannot be called: its module does not open its package. Add 'opens %s to dev.perdure;' to the module-info."
                            .formatted(
                                    describe(method), method.getDeclaringClass().getPackageName()),
                    closed);
        }
        return (ctx, input) -> {
            try {
                return takesInput ? method.invoke(object, ctx, input) : method.invoke(object, ctx);
            } catch (InvocationTargetException thrown) {
                throw thrown.getCause() == null ? thrown : thrown.getCause();
            }
        };
    }

    /** The name and types of an annotated method, after checking that it can be a workflow. */
    static Target target(Method method) {
        Workflow annotation = method.getAnnotation(Workflow.class);
        if (annotation == null) {
            throw new DefinitionException("%s is not annotated with @Workflow.".formatted(describe(method)));
        }
        String name = annotation.value();
        if (!Target.isName(name)) {
            throw unusable(
                    method,
                    "its name is empty, longer than %s characters or has characters that cannot be stored"
                            .formatted(Definition.MAX_NAME_LENGTH));
        }
        int modifiers = method.getModifiers();
        if (Modifier.isStatic(modifiers) || Modifier.isPrivate(modifiers)) {
            throw unusable(method, "it is static or private, so it cannot be called on a registered object");
        }
        Type[] parameters = method.getGenericParameterTypes();
        if (isSuspending(method)) {
            throw unusable(method, SUSPENDING);
        }
        if (parameters.length < 1 || parameters.length > 2 || parameters[0] != WorkflowContext.class) {
            throw unusable(method, "it must take a WorkflowContext and, optionally, an input");
        }
        return new Target(name, parameters.length == 2 ? parameters[1] : void.class, resultType(method));
    }

    /** Whether it is a suspend function of Kotlin, which takes its continuation as a last parameter. */
    static boolean isSuspending(Method method) {
        Class<?>[] parameters = method.getParameterTypes();
        return parameters.length > 0
                && parameters[parameters.length - 1].getName().equals("kotlin.coroutines.Continuation");
    }

    static Type resultType(Method method) {
        Type result = method.getGenericReturnType();
        boolean unit = result.getTypeName().equals("kotlin.Unit");
        return unit ? void.class : result;
    }

    private static DefinitionException unusable(Method method, String why) {
        return new DefinitionException("%s cannot be a workflow: %s.".formatted(describe(method), why));
    }

    /** The method with the types of its parameters, because another method of the class may have the same name. */
    static String origin(Method method) {
        String parameters = Arrays.stream(method.getParameterTypes())
                .map(Class::getSimpleName)
                .collect(Collectors.joining(", "));
        return "%s(%s)".formatted(describe(method), parameters);
    }

    static String describe(Method method) {
        return "the method %s.%s".formatted(method.getDeclaringClass().getName(), method.getName());
    }
}
