package dev.perdure.internal.definition;

import dev.perdure.DefinitionException;
import dev.perdure.Workflow;
import dev.perdure.WorkflowMethod;
import dev.perdure.internal.definition.Registered.Target;
import java.io.Serializable;
import java.lang.invoke.MethodType;
import java.lang.invoke.SerializedLambda;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Finds the method that a method reference names. */
final class MethodReferences {
    private MethodReferences() {}

    static Target target(WorkflowMethod reference) {
        SerializedLambda lambda = Lambdas.describe(reference)
                .orElseThrow(() -> new DefinitionException("%s is not a method reference. Write Orders::process."
                        .formatted(reference.getClass().getName())));
        Method method = method(reference, lambda)
                .orElseThrow(() -> new DefinitionException(
                        ("A lambda in %s was given where a workflow is named. Write a method reference such as Orders::process, "
                                        + "or start the workflow by its name.")
                                .formatted(lambda.getCapturingClass().replace('/', '.'))));
        return AnnotatedMethods.target(annotated(method.getDeclaringClass(), method)
                .orElseThrow(() ->
                        new DefinitionException("%s is not annotated with @Workflow. Annotate it, or start by name."
                                .formatted(AnnotatedMethods.describe(method)))));
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

    /** The annotation may stand on the method that this one overrides. */
    private static Optional<Method> annotated(@Nullable Class<?> type, Method method) {
        if (type == null) {
            return Optional.empty();
        }
        Optional<Method> here = find(type, method.getName(), method.getParameterTypes())
                .filter(found -> found.isAnnotationPresent(Workflow.class));
        return here.or(() -> annotated(type.getSuperclass(), method))
                .or(() -> Arrays.stream(type.getInterfaces())
                        .flatMap(parent -> annotated(parent, method).stream())
                        .findFirst());
    }
}
