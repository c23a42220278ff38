package dev.perdure.spring.boot.internal;

import java.util.function.Supplier;
import org.springframework.aop.TargetSource;
import org.springframework.aop.framework.ProxyFactory;

/** Beans whose target is found at each call, because they are injected before the engine starts. */
public final class LateTarget {
    private LateTarget() {}

    /** An object that asks for its target at each call. */
    public static <T> T proxy(Class<T> type, Supplier<T> target) {
        ProxyFactory factory = new ProxyFactory();
        factory.addInterface(type);
        factory.setTargetSource(new TargetSource() {
            @Override
            public Class<?> getTargetClass() {
                return type;
            }

            @Override
            public boolean isStatic() {
                return false;
            }

            @Override
            public Object getTarget() {
                return target.get();
            }

            @Override
            public void releaseTarget(Object used) {}
        });
        return type.cast(factory.getProxy(type.getClassLoader()));
    }
}
