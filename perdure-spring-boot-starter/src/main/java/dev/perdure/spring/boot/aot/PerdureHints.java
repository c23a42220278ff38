package dev.perdure.spring.boot.aot;

import dev.perdure.Outbox;
import dev.perdure.Perdure;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/** What a native image needs of Perdure itself: the migrations, the pages, and the proxies of the beans. */
final class PerdureHints implements RuntimeHintsRegistrar {
    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader loader) {
        hints.resources()
                .registerPattern("dev/perdure/postgres/*.sql")
                .registerPattern("dev/perdure/postgres/migrations/*.sql")
                .registerPattern("dev/perdure/dashboard/web/*")
                .registerPattern("dev/perdure/dashboard/web/vendor/*");
        hints.proxies()
                .registerJdkProxy(AopProxyUtils.completeJdkProxyInterfaces(Perdure.class))
                .registerJdkProxy(AopProxyUtils.completeJdkProxyInterfaces(Outbox.class));
    }
}
