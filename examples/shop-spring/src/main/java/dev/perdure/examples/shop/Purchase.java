package dev.perdure.examples.shop;

import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.Id;

/** What the shop knows of an order. */
@Entity
public class Purchase {
    /** How far it is. */
    public enum Status {
        PLACED,
        RESERVED,
        SHIPPED,
        CANCELLED
    }

    @Id
    private String number;

    private String item;
    private int quantity;

    @Enumerated(EnumType.STRING)
    private Status status;

    private String tracking;

    /** For JPA. */
    protected Purchase() {}

    /** A new one. */
    public Purchase(Order order) {
        this.number = order.number();
        this.item = order.item();
        this.quantity = order.quantity();
        this.status = Status.PLACED;
    }

    public String number() {
        return number;
    }

    public Status status() {
        return status;
    }

    public void status(Status next) {
        status = next;
    }

    public String tracking() {
        return tracking;
    }

    /** The parcel is on its way. */
    public void shipped(String trackingNumber) {
        status = Status.SHIPPED;
        tracking = trackingNumber;
    }
}
