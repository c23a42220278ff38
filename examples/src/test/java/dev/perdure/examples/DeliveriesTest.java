package dev.perdure.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.error.RunFailedException;
import dev.perdure.examples.Deliveries.Confirmation;
import dev.perdure.examples.Deliveries.Invoice;
import dev.perdure.testing.PerdureExtension;
import dev.perdure.testing.PerdureTest;
import java.io.IOException;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.Collections;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PerdureExtension.class)
class DeliveriesTest {
    private final HttpClient http = HttpClient.newHttpClient();
    private final Invoice invoice = new Invoice("2030-1", "One book");

    @AfterEach
    void close() {
        http.close();
    }

    @Test
    void delivers_one_invoice_with_three_requests(PerdureTest perdure) throws IOException {
        try (FlakyPartner partner = FlakyPartner.failing(2, Duration.ofHours(1))) {
            perdure.register(new Deliveries(http, partner.address()));
            Run<Confirmation> run = perdure.start(Deliveries::deliver, invoice);
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.BACKING_OFF);
            assertThat(run.result()).isEqualTo(new Confirmation("Taken: One book"));
            assertThat(perdure.now()).isEqualTo("2030-01-01T02:00:00Z"); // the partner asked twice to wait an hour
            assertThat(partner.keys()).hasSize(3);
            assertThat(partner.invoices()).hasSize(1);
        }
    }

    @Test
    void the_key_is_the_same_after_the_worker_died(PerdureTest perdure) throws IOException {
        try (FlakyPartner partner = FlakyPartner.failing(0, Duration.ZERO)) {
            perdure.register(new Deliveries(http, partner.address()));
            perdure.crashBeforeNextCommit(); // the partner has accepted the invoice, but the journal has no entry
            assertThat(perdure.start(Deliveries::deliver, invoice).result())
                    .isEqualTo(new Confirmation("Taken: One book"));
            assertThat(partner.keys()).hasSize(2);
            assertThat(Collections.frequency(partner.keys(), partner.keys().getFirst()))
                    .isEqualTo(2);
            assertThat(partner.invoices()).hasSize(1);
        }
    }

    @Test
    void two_runs_have_two_keys(PerdureTest perdure) throws IOException {
        try (FlakyPartner partner = FlakyPartner.failing(0, Duration.ZERO)) {
            perdure.register(new Deliveries(http, partner.address()));
            perdure.start(Deliveries::deliver, invoice).result();
            perdure.start(Deliveries::deliver, invoice).result();
            assertThat(partner.invoices()).hasSize(2);
        }
    }

    @Test
    void a_refusal_is_not_tried_again(PerdureTest perdure) throws IOException {
        try (FlakyPartner partner = FlakyPartner.refusing()) {
            perdure.register(new Deliveries(http, partner.address()));
            Run<Confirmation> run = perdure.start(Deliveries::deliver, invoice);
            assertThatThrownBy(run::result)
                    .isInstanceOf(RunFailedException.class)
                    .hasMessageContaining("Step 'post' failed after 1 attempt")
                    .hasMessageContaining("The partner refused the invoice: 422.");
            assertThat(partner.keys()).hasSize(1);
        }
    }
}
