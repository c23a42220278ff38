package dev.perdure.examples.shop;

/**
 * An order. The customer's program chooses the number, so a request that it repeats is the same order.
 *
 * @param number its number
 * @param item what
 * @param quantity how many
 */
public record Order(String number, String item, int quantity) {}
