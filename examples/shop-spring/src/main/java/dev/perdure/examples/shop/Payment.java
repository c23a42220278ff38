package dev.perdure.examples.shop;

/**
 * What the payment provider says in its webhook.
 *
 * @param id the provider's number of the payment
 * @param cents how much
 */
public record Payment(String id, int cents) {}
