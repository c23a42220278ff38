package dev.perdure.examples.shop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.TypeRef;
import dev.perdure.spring.boot.test.AutoConfigurePerdureTest;
import dev.perdure.testing.PerdureTest;
import java.time.Duration;
import java.time.LocalDate;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

/** The shop over HTTP, in virtual time. */
// region test
@SpringBootTest
@AutoConfigureMockMvc
@AutoConfigurePerdureTest
@Import(Partners.class)
class ShopTest {
    @Autowired
    private PerdureTest perdure;

    @Autowired
    private MockMvcTester http;
    // endregion

    @Autowired
    private Partners partners;

    @Autowired
    private Purchases purchases;

    @Autowired
    private Stock stock;

    @Autowired
    private SalesReports reports;

    private int books;

    @BeforeEach
    void count() {
        purchases.deleteAll();
        reports.deleteAll();
        books = left("book");
    }

    private int left(String item) {
        return stock.findById(item).orElseThrow().available();
    }

    private MvcTestResult post(String uri, String json) {
        return http.post()
                .uri(uri)
                .contentType(MediaType.APPLICATION_JSON)
                .content(json)
                .exchange();
    }

    private void order(String number, String item) {
        assertThat(post("/orders", """
                        {"number": "%s", "item": "%s", "quantity": 1}""".formatted(number, item))).hasStatus(HttpStatus.ACCEPTED);
    }

    private MvcTestResult pay(String number) {
        return post("/payments/" + partners.tokens.get(number), """
                {"id": "P-%s", "cents": 1000}""".formatted(number));
    }

    private String status(String number) {
        return purchases.findById(number).orElseThrow().status().name();
    }

    // region fulfil
    @Test
    void an_order_is_shipped_when_the_provider_calls_back() {
        order("1", "book");
        perdure.settle(); // the goods are reserved, and the customer is asked to pay
        assertThat(status("1")).isEqualTo("RESERVED");
        perdure.advance(Duration.ofDays(2));
        perdure.crash(); // a deploy or a crash in between changes nothing
        assertThat(pay("1")).hasStatus(HttpStatus.NO_CONTENT);
        perdure.settle();
        assertThat(status("1")).isEqualTo("SHIPPED");
    }
    // endregion

    @Test
    void a_repeated_request_and_a_repeated_webhook_change_nothing() {
        order("1", "book");
        perdure.settle();
        order("1", "book");
        assertThat(pay("1")).hasStatus(HttpStatus.NO_CONTENT);
        assertThat(pay("1")).hasStatus(HttpStatus.NO_CONTENT);
        perdure.settle();
        assertThat(pay("1")).hasStatus(HttpStatus.GONE);
        assertThat(left("book")).isEqualTo(books - 1);
        assertThat(http.get().uri("/orders/1"))
                .bodyJson()
                .extractingPath("$.tracking")
                .isEqualTo("TRACK-1");
        assertThat(post("/payments/guessed", "{\"id\": \"P\", \"cents\": 1}")).hasStatus(HttpStatus.NOT_FOUND);
    }

    // region unpaid
    @Test
    void an_order_that_is_not_paid_in_three_days_is_cancelled() {
        order("1", "book");
        perdure.advance(Duration.ofDays(3));
        assertThat(status("1")).isEqualTo("CANCELLED");
        assertThat(left("book")).isEqualTo(books);
    }
    // endregion

    @Test
    void money_and_goods_go_back_if_the_carrier_refuses() {
        int pianos = left("piano");
        order("1", "piano");
        perdure.settle();
        pay("1");
        perdure.settle();
        assertThat(status("1")).isEqualTo("CANCELLED");
        assertThat(partners.refunds).contains("P-1");
        assertThat(left("piano")).isEqualTo(pianos);
        assertThat(perdure.run(RunId.of("order-1"), TypeRef.of(String.class)).state())
                .isEqualTo(RunState.FAILED);
    }

    @Test
    void an_order_for_more_than_there_is_leaves_nothing_behind() {
        order("1", "harp");
        perdure.settle();
        assertThat(status("1")).isEqualTo("CANCELLED");
    }

    @Test
    void the_carrier_gets_two_parcels_at_a_time() {
        List<Integer> atOnce = new CopyOnWriteArrayList<>();
        AtomicInteger sending = new AtomicInteger();
        CountDownLatch third = new CountDownLatch(3);
        partners.carrier = (key, order) -> {
            atOnce.add(sending.incrementAndGet());
            third.countDown();
            try { // The first two wait for a third, which does not come before one of them has ended.
                boolean came = third.await(1, TimeUnit.SECONDS);
                return came ? "TRACK" : "TRACK-ALONE";
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            } finally {
                sending.decrementAndGet();
            }
        };
        try {
            List<String> numbers = List.of("1", "2", "3", "4");
            numbers.forEach(number -> order(number, "book"));
            perdure.settle();
            numbers.forEach(this::pay);
            perdure.settle();
            assertThat(numbers).extracting(this::status).containsOnly("SHIPPED");
            assertThat(atOnce).hasSize(4).contains(2).allMatch(count -> count <= 2);
        } finally {
            partners.carrier = new Carrier.Imagined();
        }
    }

    // region nightly
    @Test
    void every_night_a_report_is_written() {
        order("1", "book");
        perdure.settle();
        pay("1");
        perdure.advance(Duration.ofDays(2)); // from 2030-01-01T00:00Z
        assertThat(reports.findAll()).hasSize(2);
        assertThat(reports.findById(LocalDate.of(2030, 1, 2)).orElseThrow().shipped())
                .isEqualTo(1);
    }
    // endregion
}
