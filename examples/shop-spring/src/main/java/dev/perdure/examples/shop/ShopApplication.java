package dev.perdure.examples.shop;

import dev.perdure.queue.Queue;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** The application. */
@SpringBootApplication
public class ShopApplication {
    public static void main(String[] arguments) {
        SpringApplication.run(ShopApplication.class, arguments);
    }

    // region queue
    /** The carrier takes two parcels at a time, from all processes of the shop together. */
    @Bean
    Queue parcels() {
        return Queue.named(OrderWorkflow.PARCELS).concurrency(2);
    }
    // endregion
}
