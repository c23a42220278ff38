package dev.perdure.internal.definition;

import dev.perdure.Workflow;
import dev.perdure.WorkflowMethod;
import dev.perdure.error.DefinitionException;
import dev.perdure.internal.definition.Registered.Target;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectMethod;
import java.io.Serializable;
import java.lang.annotation.Annotation;
import java.lang.invoke.MethodType;
import java.lang.invoke.SerializedLambda;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Finds the method that a method reference names. */
final class MethodReferences {
    private MethodReferences() {}

    static Target target(WorkflowMethod reference) {
        Method method = method(
                reference,
                "Orders::process",
                "A lambda in %s was given where a workflow is named. Write a method reference such as Orders::process, or start the workflow by its name.");
        return AnnotatedMethods.target(annotated(method.getDeclaringClass(), method, Workflow.class)
                .orElseThrow(() ->
                        new DefinitionException("%s is not annotated with @Workflow. Annotate it, or start by name."
                                .formatted(AnnotatedMethods.describe(method)))));
    }

    static ObjectHandler handler(ObjectMethod reference) {
        Method method = method(
                reference,
                "Cart::add",
                "A lambda in %s was given where a handler is named. Write a method reference such as Cart::add.");
        Method handler = annotated(method.getDeclaringClass(), method, Handler.class)
                .orElseThrow(() -> new DefinitionException("%s is not annotated with @Handler. Annotate it."
                        .formatted(AnnotatedMethods.describe(method))));
        return ObjectMethods.handler(method.getDeclaringClass(), handler);
    }

    private static Method method(Serializable reference, String example, String noLambda) {
        SerializedLambda lambda = Lambdas.describe(reference)
                .orElseThrow(() -> new DefinitionException("%s is not a method reference. Write %s."
                        .formatted(reference.getClass().getName(), example)));
        return method(reference, lambda)
                .map(MethodReferences::withoutForwarder)
                .orElseThrow(() -> new DefinitionException(
                        noLambda.formatted(lambda.getCapturingClass().replace('/', '.'))));
    }

    /** The method itself; empty for a lambda. */
    static Optional<Method> method(Serializable reference, SerializedLambda lambda) {
        try {
            ClassLoader loader = reference.getClass().getClassLoader();
            Class<?> owner = Class.forName(lambda.getImplClass().replace('/', '.'), false, loader);
            Class<?>[] parameters = MethodType.fromMethodDescriptorString(lambda.getImplMethodSignature(), loader)
                    .parameterArray();
            return find(owner, lambda.getImplMethodName(), parameters).filter(method -> !method.isSynthetic());
        } catch (ClassNotFoundException | LinkageError unknown) {
            return Optional.empty();
        }
    }

    /**
     * Kotlin compiles {@code Orders::process} in a function {@code order} into a static method {@code order$process(Orders,
     * …)} that calls the method which the reference names.
     */
    private static Method withoutForwarder(Method method) {
        Class<?>[] parameters = method.getParameterTypes();
        if (!Modifier.isStatic(method.getModifiers()) || parameters.length == 0) {
            return method;
        }
        Class<?>[] others = Arrays.copyOfRange(parameters, 1, parameters.length);
        String name = method.getName();
        return IntStream.range(0, name.length())
                .filter(at -> name.charAt(at) == '$')
                .mapToObj(at -> find(parameters[0], name.substring(at + 1), others))
                .flatMap(Optional::stream)
                .findFirst()
                .orElse(method);
    }

    private static Optional<Method> find(@Nullable Class<?> type, String name, Class<?>[] parameters) {
        if (type == null) {
            return Optional.empty();
        }
        Optional<Method> here = Arrays.stream(type.getDeclaredMethods())
                .filter(method -> method.getName().equals(name)
                        && Arrays.equals(method.getParameterTypes(), parameters)
                        && !method.isBridge())
                .findFirst();
        return here.or(() -> find(type.getSuperclass(), name, parameters))
                .or(() -> Arrays.stream(type.getInterfaces())
                        .flatMap(parent -> find(parent, name, parameters).stream())
                        .findFirst());
    }

    /** The annotation may be on the method that this one overrides. */
    private static Optional<Method> annotated(
            @Nullable Class<?> type, Method method, Class<? extends Annotation> annotation) {
        if (type == null) {
            return Optional.empty();
        }
        Optional<Method> here = find(type, method.getName(), method.getParameterTypes())
                .filter(found -> found.isAnnotationPresent(annotation));
        return here.or(() -> annotated(type.getSuperclass(), method, annotation))
                .or(() -> Arrays.stream(type.getInterfaces())
                        .flatMap(parent -> annotated(parent, method, annotation).stream())
                        .findFirst());
    }
}
