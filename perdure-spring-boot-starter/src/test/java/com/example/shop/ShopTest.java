package com.example.shop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Run;
import dev.perdure.testing.PerdureExtension;
import dev.perdure.testing.PerdureTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PerdureExtension.class)
class ShopTest {
    @Test
    void ships_after_payment_although_the_worker_dies(PerdureTest perdure) {
        perdure.register(new Orders());
        Run<String> run = perdure.start(Orders::process, "book");
        perdure.crash();
        assertThat(run.result()).isEqualTo("PAY-book, TRACK-book");
    }
}
