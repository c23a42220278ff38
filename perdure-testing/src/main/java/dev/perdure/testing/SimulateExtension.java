package dev.perdure.testing;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

/** Runs the tests with {@link Simulate}. Works with JUnit 5.12 and later. */
public final class SimulateExtension implements InvocationInterceptor, ParameterResolver {
    /** For JUnit. */
    public SimulateExtension() {}

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == Simulation.class;
    }

    /** JUnit needs a value before it asks which extension runs the method. Each seed has its own simulation. */
    @Override
    public @Nullable Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return null;
    }

    @Override
    public void interceptTestMethod(
            Invocation<@Nullable Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context)
            throws Throwable {
        invocation.skip();
        Method test = method.getExecutable();
        Simulate rules = test.getAnnotation(Simulate.class);
        if (test.getParameterCount() != 1 || test.getParameterTypes()[0] != Simulation.class) {
            throw new IllegalStateException(
                    "The simulated test '%s' must have one parameter, of type Simulation.".formatted(test.getName()));
        }
        test.setAccessible(true);
        Simulation.Test body = simulation -> call(test, instance(context), simulation);
        if (rules.seed() != 0) {
            Simulation.checkOne(rules.seed(), body);
        } else {
            Simulation.check(rules.seeds(), body);
        }
    }

    private static void call(Method test, Object instance, Simulation simulation) throws Exception {
        try {
            test.invoke(instance, simulation);
        } catch (InvocationTargetException thrown) {
            switch (thrown.getCause()) {
                case Exception cause -> throw cause;
                case Error cause -> throw cause;
                case null, default -> throw thrown;
            }
        }
    }

    /** A new instance of the test class. If the class is nested, the new instance is in the same outer instance. */
    private static Object instance(ExtensionContext context) throws ReflectiveOperationException {
        Class<?> type = context.getRequiredTestClass();
        List<Object> around = context.getRequiredTestInstances().getEnclosingInstances();
        boolean nested = type.isMemberClass() && !java.lang.reflect.Modifier.isStatic(type.getModifiers());
        for (Constructor<?> constructor : type.getDeclaredConstructors()) {
            if (constructor.getParameterCount() == (nested ? 1 : 0)) {
                constructor.setAccessible(true);
                return nested ? constructor.newInstance(around.getLast()) : constructor.newInstance();
            }
        }
        return context.getRequiredTestInstance();
    }
}
