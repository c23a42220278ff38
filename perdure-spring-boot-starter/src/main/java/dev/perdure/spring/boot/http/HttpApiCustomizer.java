package dev.perdure.spring.boot.http;

import dev.perdure.http.HttpApi;

/**
 * Sets up the HTTP API after the properties have: webhooks, redaction, an authentication of your own. Declare a bean for
 * each.
 *
 * <pre>{@code
 * @Bean
 * HttpApiCustomizer webhooks(@Value("${stripe.secret}") String secret) {
 *     return api -> api.webhook("stripe", Webhook.stripe(secret));
 * }
 * }</pre>
 */
@FunctionalInterface
public interface HttpApiCustomizer {
    /** Changes the builder. */
    void customize(HttpApi.Builder builder);
}
