package dev.perdure.examples.shop;

import dev.perdure.Perdure;
import dev.perdure.error.AlreadyResolvedException;
import dev.perdure.error.RunEndedException;
import dev.perdure.error.UnknownTokenException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** The shop over HTTP. */
@RestController
public class ShopController {
    private final Sales sales;
    private final Purchases purchases;
    private final Perdure perdure;

    ShopController(Sales sales, Purchases purchases, Perdure perdure) {
        this.sales = sales;
        this.purchases = purchases;
        this.perdure = perdure;
    }

    /** What a customer sees of an order. */
    public record View(String number, Purchase.Status status, String tracking) {
        static View of(Purchase purchase) {
            return new View(purchase.number(), purchase.status(), purchase.tracking());
        }
    }

    @PostMapping("/orders")
    @ResponseStatus(HttpStatus.ACCEPTED)
    View place(@RequestBody Order order) {
        return View.of(sales.place(order));
    }

    @GetMapping("/orders/{number}")
    ResponseEntity<View> see(@PathVariable String number) {
        return ResponseEntity.of(purchases.findById(number).map(View::of));
    }

    // region webhook
    /** The payment provider calls this, in any process of the shop. The workflow waits for it. */
    @PostMapping("/payments/{token}")
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void paid(@PathVariable String token, @RequestBody Payment payment) {
        perdure.resolve(token, payment);
    }

    @ExceptionHandler(AlreadyResolvedException.class)
    @ResponseStatus(HttpStatus.NO_CONTENT) // the provider repeats a call whose answer it has not got
    void repeated() {}

    @ExceptionHandler(RunEndedException.class)
    @ResponseStatus(HttpStatus.GONE) // the order is shipped, or was cancelled before the payment came
    void tooLate() {}

    @ExceptionHandler(UnknownTokenException.class)
    @ResponseStatus(HttpStatus.NOT_FOUND)
    void unknown() {}
    // endregion
}
