package dev.perdure.examples.shop;

import org.springframework.data.jpa.repository.JpaRepository;

/** The orders that customers have placed. */
public interface Purchases extends JpaRepository<Purchase, String> {
    /** How many are that far. */
    long countByStatus(Purchase.Status status);
}
