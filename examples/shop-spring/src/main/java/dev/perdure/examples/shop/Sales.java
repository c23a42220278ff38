package dev.perdure.examples.shop;

import static dev.perdure.StartOptions.id;

import dev.perdure.Outbox;
import dev.perdure.error.TerminalException;
import dev.perdure.examples.shop.Purchase.Status;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** What the shop does in its own tables. */
@Service
@Transactional
public class Sales {
    private final Purchases purchases;
    private final Stock stock;
    private final Outbox outbox;

    Sales(Purchases purchases, Stock stock, Outbox outbox) {
        this.purchases = purchases;
        this.stock = stock;
        this.outbox = outbox;
    }

    // region place
    /** Stores an order and starts the run that fulfils it, in one transaction: both happen or neither. */
    public Purchase place(Order order) {
        outbox.start(OrderWorkflow::process, order, id("order-" + order.number()));
        return purchases.findById(order.number()).orElseGet(() -> purchases.save(new Purchase(order)));
    }
    // endregion

    // region reserve
    /** Takes the goods out of the stock. */
    public void reserve(Order order) {
        if (stock.take(order.item(), order.quantity()) == 0) {
            throw new TerminalException("There are no %d of '%s' left.".formatted(order.quantity(), order.item()));
        }
        find(order).status(Status.RESERVED);
    }

    /** Puts the goods back, if some are reserved. */
    public void cancel(Order order) {
        Purchase purchase = find(order);
        if (purchase.status() == Status.RESERVED) {
            stock.putBack(order.item(), order.quantity());
        }
        purchase.status(Status.CANCELLED);
    }
    // endregion

    /** Notes that the parcel is on its way. */
    public void ship(Order order, String tracking) {
        find(order).shipped(tracking);
    }

    private Purchase find(Order order) {
        return purchases.findById(order.number()).orElseThrow();
    }
}
