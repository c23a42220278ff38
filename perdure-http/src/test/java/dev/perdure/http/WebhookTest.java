package dev.perdure.http;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Invocation;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.http.exchange.ApiRequest;
import dev.perdure.http.security.Webhook;
import dev.perdure.memory.MemoryStore;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;

final class WebhookTest {
    /** The example in GitHub's documentation of webhooks, for the secret of {@link ApiKit}. */
    private static final String GITHUB_BODY = "Hello, World!";

    private static final String GITHUB_SIGNATURE =
            "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

    /** Stripe's scheme, computed with OpenSSL over the time, a dot and the body. */
    private static final String STRIPE_SECRET = "whsec_test";

    private static final String STRIPE_BODY = "{\"id\":\"evt_1\"}";
    private static final String STRIPE_SIGNATURE = "e326b9127f526dab808bd39e79a44ab61b0dc0517386b06a7abf563ce203409b";
    private static final Instant STRIPE_TIME = Instant.ofEpochSecond(1_614_556_800);

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static ApiRequest signed(String header, String value) {
        return ApiRequest.of("POST", "/").with(header, value);
    }

    @Test
    void the_example_of_github_is_accepted_and_no_other_body_or_signature() {
        Webhook github = Webhook.github(ApiKit.GITHUB_SECRET);
        ApiRequest request = signed("X-Hub-Signature-256", GITHUB_SIGNATURE);
        assertThat(github.isSigned(request, bytes(GITHUB_BODY))).isTrue();
        assertThat(github.isSigned(request, bytes(GITHUB_BODY + " "))).isFalse();
        assertThat(Webhook.github("another").isSigned(request, bytes(GITHUB_BODY)))
                .isFalse();
        assertThat(github.isSigned(signed("X-Hub-Signature-256", "sha256="), bytes(GITHUB_BODY)))
                .isFalse();
        assertThat(github.isSigned(ApiRequest.of("POST", "/"), bytes(GITHUB_BODY)))
                .isFalse();
    }

    @Test
    void the_scheme_of_stripe_is_accepted_while_it_is_fresh() {
        Webhook stripe = Webhook.stripe(STRIPE_SECRET, () -> STRIPE_TIME.plusSeconds(299));
        String header = "t=1614556800,v1=%s,v0=00".formatted(STRIPE_SIGNATURE);
        ApiRequest request = signed("Stripe-Signature", header);
        assertThat(stripe.isSigned(request, bytes(STRIPE_BODY))).isTrue();
        assertThat(stripe.isSigned(
                        signed("Stripe-Signature", "t=1614556800, v1=00, v1=" + STRIPE_SIGNATURE), bytes(STRIPE_BODY)))
                .as("two secrets while one is replaced")
                .isTrue();
        assertThat(stripe.isSigned(request, bytes(STRIPE_BODY + " "))).isFalse();
        Webhook late = Webhook.stripe(STRIPE_SECRET, () -> STRIPE_TIME.plusSeconds(301));
        assertThat(late.isSigned(request, bytes(STRIPE_BODY))).isFalse();
        for (String wrong : new String[] {
            "",
            "t=1614556801,v1=" + STRIPE_SIGNATURE,
            "v1=" + STRIPE_SIGNATURE,
            "t=1614556800,t=1614556800,v1=" + STRIPE_SIGNATURE,
            "t=1614556800,v0=" + STRIPE_SIGNATURE,
            "t=99999999999999999999,v1=" + STRIPE_SIGNATURE
        }) {
            assertThat(stripe.isSigned(signed("Stripe-Signature", wrong), bytes(STRIPE_BODY)))
                    .as(wrong)
                    .isFalse();
        }
    }

    @Test
    void an_empty_secret_is_refused() {
        assertThatThrownBy(() -> Webhook.github(" "))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("The secret of the webhook is empty. Give the one that its sender has.");
    }

    @Test
    void a_signed_webhook_resolves_an_awakeable_once() throws Exception {
        try (ApiKit kit = new ApiKit(new MemoryStore())) {
            kit.perdure.start(Invocation.of(kit.sample.signed(), "x"), id("h-1"));
            String path = "/webhooks/github/" + kit.sample.tokens.take();
            String body = "{\"action\": \"opened\"}";
            ApiRequest request = ApiRequest.of("POST", ApiKit.PREFIX + path).with("Host", "localhost");
            ApiRequest wrong =
                    request.with("X-Hub-Signature-256", GITHUB_SIGNATURE).with(new ByteArrayInputStream(bytes(body)));
            assertThat(kit.send(wrong).is(401).at("/title")).isEqualTo("WrongSignature");
            ApiRequest right = request.with("X-Hub-Signature-256", "sha256=" + hmac(ApiKit.GITHUB_SECRET, body))
                    .with(new ByteArrayInputStream(bytes(body)));
            kit.send(right).is(204);
            assertThat(kit.get("/runs/h-1/result?wait=PT20S").at("/result/action"))
                    .isEqualTo("opened");
            ApiRequest unknown =
                    ApiRequest.of("POST", ApiKit.PREFIX + "/webhooks/none/x").with("Host", "localhost");
            assertThat(kit.send(unknown).is(404).at("/title")).isEqualTo("UnknownWebhook");
        }
    }

    private static ApiRequest plain(String path, String json) {
        return ApiKit.withBody(ApiRequest.of("POST", ApiKit.PREFIX + path).with("Host", "localhost"), json);
    }

    @Test
    void a_token_alone_answers_no_awakeable_that_a_webhook_is_for() throws Exception {
        try (ApiKit kit = new ApiKit(new MemoryStore())) {
            kit.perdure.start(Invocation.of(kit.sample.signed(), "x"), id("h-1"));
            String token = kit.sample.tokens.take();
            for (String answer : new String[] {"resolve", "reject"}) {
                assertThat(kit.send(plain("/awakeables/" + token + "/" + answer, "{\"reason\": \"x\"}"))
                                .is(403)
                                .at("/detail"))
                        .isEqualTo(
                                "This awakeable is answered through the webhook 'github', whose sender signs the body. Send it there, or answer as an operator with POST /runs/{id}/awakeables/{position}/resolve.");
            }
            kit.post("/runs/h-1/awakeables/1/resolve", "{\"value\": {\"by\": \"phone\"}}")
                    .is(200);
        }
    }

    @Test
    void a_webhook_answers_awakeables_of_its_definitions_only() throws Exception {
        try (ApiKit kit = new ApiKit(new MemoryStore())) {
            kit.perdure.start(Invocation.of(kit.sample.hook(), "x"), id("h-1"));
            String token = kit.sample.tokens.take();
            assertThat(kit.send(OpenApiTest.signed("/webhooks/github/" + token, "{}"))
                            .is(403)
                            .at("/detail"))
                    .isEqualTo(
                            "The webhook 'github' does not answer this awakeable. Name the definition of its run in webhook(…) when you build the API.");
            kit.send(plain("/awakeables/" + token + "/resolve", "{}")).is(204);
        }
    }

    @Test
    void a_webhook_without_definitions_is_for_all_awakeables() throws Exception {
        try (ApiKit kit = new ApiKit(
                new MemoryStore(), builder -> builder.webhook("github", Webhook.github(ApiKit.GITHUB_SECRET)))) {
            kit.perdure.start(Invocation.of(kit.sample.hook(), "x"), id("h-1"));
            String token = kit.sample.tokens.take();
            assertThat(kit.send(plain("/awakeables/" + token + "/resolve", "{}"))
                            .is(403)
                            .at("/title"))
                    .isEqualTo("SignatureNeeded");
            kit.send(OpenApiTest.signed("/webhooks/github/" + token, "{}")).is(204);
        }
    }

    private static String hmac(String secret, String body) throws Exception {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(bytes(secret), "HmacSHA256"));
        return HexFormat.of().formatHex(mac.doFinal(bytes(body)));
    }
}
