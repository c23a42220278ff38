package com.example.shop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Run;
import dev.perdure.spring.boot.test.AutoConfigurePerdureTest;
import dev.perdure.testing.PerdureTest;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

@SpringBootTest
@AutoConfigurePerdureTest
class ShopApplicationTests {
    @Autowired
    private PerdureTest perdure;

    @Test
    void ships_after_payment_although_the_worker_dies() {
        Run<String> run = perdure.start(Orders::process, "book");
        perdure.crash();
        assertThat(run.result()).isEqualTo("PAY-book, TRACK-book");
    }
}
