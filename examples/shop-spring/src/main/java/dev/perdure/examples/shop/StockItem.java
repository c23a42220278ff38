package dev.perdure.examples.shop;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;

/** How many pieces of an item the shop has. */
@Entity
public class StockItem {
    @Id
    private String item;

    private int available;

    /** For JPA. */
    protected StockItem() {}

    public int available() {
        return available;
    }
}
