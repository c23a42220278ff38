package dev.perdure.spring.boot.aot;

import dev.perdure.spring.boot.internal.WorkflowBeans;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.util.ClassUtils;

/** What a native image needs of a bean with workflow methods: to call them, and to read and write their values. */
final class WorkflowHints implements BeanRegistrationAotProcessor {
    private final BindingReflectionHintsRegistrar values = new BindingReflectionHintsRegistrar();

    @Override
    public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
        Set<Method> methods = WorkflowBeans.methods(ClassUtils.getUserClass(bean.getBeanClass()));
        return methods.isEmpty()
                ? null
                : (generation, code) -> methods.forEach(method -> register(generation.getRuntimeHints(), method));
    }

    private void register(RuntimeHints hints, Method method) {
        hints.reflection().registerMethod(method, ExecutableMode.INVOKE);
        Type[] inputs = method.getGenericParameterTypes();
        values.registerReflectionHints(
                hints.reflection(), Arrays.copyOfRange(inputs, 1, Math.max(1, inputs.length))); // after the context
        values.registerReflectionHints(hints.reflection(), method.getGenericReturnType());
    }
}
