package com.example.shop;

import static dev.perdure.StartOptions.id;

import dev.perdure.Perdure;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

@SpringBootApplication
public class ShopApplication {
    public static void main(String[] arguments) {
        SpringApplication.run(ShopApplication.class, arguments);
    }

    @Bean
    ApplicationRunner firstOrder(Perdure perdure) {
        return arguments -> perdure.start(Orders::process, "book", id("order-1"));
    }
}
