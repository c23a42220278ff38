package dev.perdure.examples.shop;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;

/** The payment provider and the carrier of tests. */
@TestConfiguration(proxyBeanMethods = false)
class Partners {
    final Map<String, String> tokens = new ConcurrentHashMap<>();
    final LinkedBlockingQueue<String> asked = new LinkedBlockingQueue<>();
    final List<String> refunds = new CopyOnWriteArrayList<>();
    volatile Carrier carrier = new Carrier.Imagined();

    @Bean
    @Primary
    PaymentProvider provider() {
        return new PaymentProvider() {
            @Override
            public void ask(Order order, String token) {
                tokens.put(order.number(), token);
                asked.add(token);
            }

            @Override
            public void refund(Payment payment) {
                refunds.add(payment.id());
            }
        };
    }

    @Bean
    @Primary
    Carrier carrier() {
        return (key, order) -> carrier.send(key, order);
    }
}
