package dev.perdure.examples.shop;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import java.time.LocalDate;

/** How many orders were shipped until the end of a day. */
@Entity
public class SalesReport {
    @Id
    private LocalDate day;

    private long shipped;

    /** For JPA. */
    protected SalesReport() {}

    /** A new one. */
    public SalesReport(LocalDate day, long shipped) {
        this.day = day;
        this.shipped = shipped;
    }

    public long shipped() {
        return shipped;
    }
}
