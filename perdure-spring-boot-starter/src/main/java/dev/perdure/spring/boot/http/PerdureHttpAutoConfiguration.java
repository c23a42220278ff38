package dev.perdure.spring.boot.http;

import dev.perdure.dashboard.DashboardPages;
import dev.perdure.http.HttpApi;
import dev.perdure.http.exchange.ApiRequest;
import dev.perdure.http.security.Authentication;
import dev.perdure.http.security.Caller;
import dev.perdure.http.security.Tokens;
import dev.perdure.spring.boot.PerdureAutoConfiguration;
import dev.perdure.spring.boot.internal.RunningEngine;
import jakarta.servlet.Servlet;
import jakarta.servlet.ServletContext;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.ClassUtils;

/**
 * The HTTP API, and the dashboard if it is there, in the web server of the application: see {@link HttpProperties}. Only
 * an application that asks for it has it.
 */
@AutoConfiguration(after = PerdureAutoConfiguration.class)
@ConditionalOnProperty(prefix = HttpProperties.PREFIX, name = "enabled")
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnBean(type = "dev.perdure.spring.boot.EngineLifecycle")
public final class PerdureHttpAutoConfiguration {
    private static final String HTTP_API = "dev.perdure.http.HttpApi";

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingClass(HTTP_API)
    static class WithoutModule {
        WithoutModule() {
            throw new InvalidConfigurationPropertyValueException(
                    HttpProperties.PREFIX + ".enabled",
                    true,
                    "The module perdure-http is not on the class path. Add it, or perdure-dashboard, which brings it along.");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({HttpApi.class, DashboardPages.class})
    @ConditionalOnProperty(prefix = "perdure.dashboard", name = "enabled", matchIfMissing = true)
    static class OfDashboard {
        @Bean
        PagesFactory perdureDashboardPages() {
            return (api, perdure, base, prefix) -> {
                DashboardPages pages = DashboardPages.of(perdure, base, prefix);
                api.pages(pages).sharing(pages::changes);
            };
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({HttpApi.class, Servlet.class})
    @EnableConfigurationProperties(HttpProperties.class)
    static class OfApi {
        /** After the engine, whose phase is one less, and before the web server. */
        private static final int OPENS = SmartLifecycle.DEFAULT_PHASE - 4095;
        /** Before the web server waits for its last requests, of which streams would never end. */
        private static final int CLOSES = SmartLifecycle.DEFAULT_PHASE;

        private static final boolean SECURITY = ClassUtils.isPresent(
                "org.springframework.security.core.context.SecurityContextHolder", OfApi.class.getClassLoader());
        private static final String SECURITY_FILTERS = "springSecurityFilterChain";

        @Bean
        MountedApi perdureHttpApi(
                ObjectProvider<RunningEngine> engine,
                HttpProperties properties,
                ObjectProvider<PagesFactory> pages,
                ObjectProvider<HttpApiCustomizer> customizers,
                BeanFactory beans) {
            return new MountedApi(
                    new MountedApi.Setup(engine, properties, authentication(properties, beans), pages, customizers));
        }

        private static boolean hasSecurity(BeanFactory beans) {
            return SECURITY && beans.containsBean(SECURITY_FILTERS);
        }

        /** Users of Spring Security first, and then callers with a token. */
        private static Optional<Authentication> authentication(HttpProperties properties, BeanFactory beans) {
            Optional<Tokens> tokens = properties.knownTokens();
            if (!hasSecurity(beans)) {
                return tokens.map(known -> known);
            }
            Authentication users = new SecurityUsers(properties.authorities());
            return Optional.of(
                    tokens.<Authentication>map(known -> new Both(users, known)).orElse(users));
        }

        /** Two ways to tell who sends a request, one after the other. */
        private record Both(Authentication first, Authentication second) implements Authentication {
            @Override
            public Optional<Caller> caller(ApiRequest request) {
                return first.caller(request).or(() -> second.caller(request));
            }

            @Override
            public Optional<String> user(ApiRequest request) {
                return first.user(request).or(() -> second.user(request));
            }
        }

        @Bean
        ServletRegistrationBean<Servlet> perdureHttpServlet(
                MountedApi api, HttpProperties properties, BeanFactory beans) {
            UnaryOperator<Runnable> onOtherThread =
                    hasSecurity(beans) ? SecurityUsers::asThisUser : UnaryOperator.identity();
            ServletRegistrationBean<Servlet> servlet =
                    new ServletRegistrationBean<>(new ApiServlet(api, onOtherThread), properties.path() + "/*");
            servlet.setName("perdure");
            servlet.setAsyncSupported(true);
            return servlet;
        }

        @Bean
        SmartLifecycle perdureHttpOpening(MountedApi api, ServletContext server, ApplicationContext application) {
            return new Phase(OPENS, () -> api.open(server.getContextPath(), application), () -> {});
        }

        @Bean
        SmartLifecycle perdureHttpClosing(MountedApi api) {
            return new Phase(CLOSES, () -> {}, api::close);
        }
    }
}
