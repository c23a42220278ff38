package dev.perdure.spring.boot.internal;

import dev.perdure.Definition;
import dev.perdure.Workflow;
import dev.perdure.dag.Dag;
import dev.perdure.error.DefinitionException;
import dev.perdure.object.Handler;
import dev.perdure.object.VirtualObject;
import dev.perdure.schedule.Scheduled;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils.MethodFilter;

/**
 * Finds the beans to register: objects with {@link Workflow} methods, {@link VirtualObject}s, {@link Definition}s and
 * {@link Dag}s.
 *
 * <p>It takes the object behind a proxy. The engine calls a workflow method once for each replay, and leaves it by a
 * throwable when the run suspends, so advice around the method would not mean what it says.
 */
public final class WorkflowBeans {
    private static final List<String> TRANSACTIONAL =
            List.of("org.springframework.transaction.annotation.Transactional", "jakarta.transaction.Transactional");

    private final ConfigurableListableBeanFactory beans;
    private final List<Object> found = new ArrayList<>();

    private WorkflowBeans(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
    }

    static List<Object> of(ConfigurableListableBeanFactory beans) {
        WorkflowBeans search = new WorkflowBeans(beans);
        for (String name : BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, Object.class)) {
            if (!ScopedProxyUtils.isScopedTarget(name)) {
                search.look(name);
            }
        }
        return search.found;
    }

    private void look(String name) {
        Class<?> type = typeOf(name);
        if (type == null) {
            return;
        }
        if (Definition.class.isAssignableFrom(type) || Dag.class.isAssignableFrom(type)) {
            found.add(beans.getBean(name));
            return;
        }
        Class<?> written = ClassUtils.getUserClass(type);
        Set<Method> methods = methods(written);
        if (methods.isEmpty() && !AnnotatedElementUtils.hasAnnotation(written, VirtualObject.class)) {
            return;
        }
        if (!beans.isSingleton(name)) {
            throw new DefinitionException(
                    "The bean '%s' of %s has workflow methods and is no singleton. Remove its scope: one object serves all runs."
                            .formatted(name, written.getName()));
        }
        methods.forEach(method -> requireNoTransaction(written, method));
        found.add(behindProxies(beans.getBean(name)));
    }

    /** The class of a bean without creating the bean, unless only the bean itself can tell. */
    private @Nullable Class<?> typeOf(String name) {
        Class<?> type = AutoProxyUtils.determineTargetClass(beans, name);
        return type != null && Proxy.isProxyClass(type) && beans.isSingleton(name)
                ? behindProxies(beans.getBean(name)).getClass()
                : type;
    }

    /** The methods of a class that the engine calls. */
    public static Set<Method> methods(Class<?> type) {
        if (!AnnotationUtils.isCandidateClass(type, List.of(Workflow.class, Handler.class, Scheduled.class))) {
            return Set.of();
        }
        return MethodIntrospector.selectMethods(
                type, (MethodFilter) method -> method.isAnnotationPresent(Workflow.class)
                        || method.isAnnotationPresent(Handler.class)
                        || method.isAnnotationPresent(Scheduled.class));
    }

    private static void requireNoTransaction(Class<?> type, Method method) {
        if (isTransactional(method) || isTransactional(type)) {
            throw new DefinitionException(
                    "The method %s.%s is @Transactional and a workflow. A run suspends and continues later, maybe in another process, so no transaction can span it: every suspension would roll it back. Remove @Transactional, and write in a transaction step: ctx.transaction(…)."
                            .formatted(type.getName(), method.getName()));
        }
    }

    private static boolean isTransactional(AnnotatedElement element) {
        MergedAnnotations annotations = MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY);
        return TRANSACTIONAL.stream().anyMatch(annotations::isPresent);
    }

    private static Object behindProxies(Object bean) {
        Object object = bean;
        @Nullable Object target = AopProxyUtils.getSingletonTarget(object);
        while (target != null) {
            object = target;
            target = AopProxyUtils.getSingletonTarget(object);
        }
        return object;
    }
}
