package dev.perdure.examples.shop;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/** The service that takes money. It answers by a webhook, hours or days later. */
public interface PaymentProvider {
    /** Asks the customer to pay. The provider calls {@code POST /payments/{token}} when that is done. */
    void ask(Order order, String token);

    /** Gives the money back. A second call for the same payment does nothing. */
    void refund(Payment payment);

    /** For a shop on your own machine: you are the provider. */
    @Component
    class OnTheConsole implements PaymentProvider {
        private static final Logger LOG = LoggerFactory.getLogger(OnTheConsole.class);

        @Override
        public void ask(Order order, String token) {
            LOG.info(
                    "Pay order {}: curl -H 'Content-Type: application/json' -d '{\"id\":\"P-1\",\"cents\":1000}' localhost:8080/payments/{}",
                    order.number(),
                    token);
        }

        @Override
        public void refund(Payment payment) {
            LOG.info("{} cents of payment {} go back", payment.cents(), payment.id());
        }
    }
}
