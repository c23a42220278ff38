package dev.perdure.examples;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.dag.Collected;
import dev.perdure.dag.Dag;
import dev.perdure.dag.DagRun;
import dev.perdure.dag.DagStatus;
import dev.perdure.dag.TaskError;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.TerminalException;
import dev.perdure.examples.OrderDag.Order;
import dev.perdure.examples.OrderDag.Parcel;
import dev.perdure.examples.OrderDag.Partners;
import dev.perdure.examples.OrderDag.Payment;
import dev.perdure.examples.OrderDag.Receipt;
import dev.perdure.testing.PerdureExtension;
import dev.perdure.testing.PerdureTest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests the example, and the code that the guide on DAGs quotes. */
@ExtendWith(PerdureExtension.class)
class OrderDagTest {
    private static final Order ORDER = new Order("book", 1999);

    /** Partners that record their calls. */
    private static final class Recording implements Partners {
        private final List<String> calls = new CopyOnWriteArrayList<>();
        private volatile boolean refuses;

        @Override
        public Payment charge(String key, int cents) {
            if (refuses) {
                throw new TerminalException("The card was refused.");
            }
            calls.add("charge");
            return new Payment("P-1");
        }

        @Override
        public Parcel pack(String item) {
            calls.add("pack");
            return new Parcel("L-1");
        }

        @Override
        public String ship(Parcel parcel) {
            calls.add("ship");
            return "TRACK-1";
        }

        @Override
        public void report(String order, List<TaskError> errors) {
            calls.add("report " + order + " " + errors);
        }
    }

    private final Recording partners = new Recording();
    private final Dag<Order, Receipt> dag = OrderDag.with(partners);

    @Test
    void an_order_is_charged_packed_and_shipped(PerdureTest perdure) {
        perdure.register(dag);
        // region start
        DagRun<Receipt> run = perdure.start(dag, ORDER, id("order-42"));
        Receipt receipt = run.result();
        // endregion
        assertThat(receipt).isEqualTo(new Receipt("P-1", "TRACK-1"));
        assertThat(partners.calls)
                .containsExactlyInAnyOrder("charge", "pack", "ship")
                .endsWith("ship");
    }

    @Test
    void a_branch_that_fails_leaves_the_other_alone_and_can_be_tried_again(PerdureTest perdure) {
        perdure.register(dag);
        partners.refuses = true;
        DagRun<Receipt> run = perdure.start(dag, ORDER, id("order-42"));
        assertThatThrownBy(run::result).hasMessageContaining("The card was refused.");
        assertThat(run.status().toText()).isEqualTo("""
            order-dag order-42  FAILED
              check      COMPLETED
              charge     FAILED       after check  (dev.perdure.error.TerminalException: The card was refused.)
              pack       COMPLETED    after check
              ship       CANCELLED    after charge, pack  (because task 'charge' failed: dev.perdure.error.TerminalException: The card was refused.)
              onFailure  COMPLETED    after ship
            """);
        assertThat(partners.calls)
                .containsExactly(
                        "pack",
                        "report order-42 ['charge': dev.perdure.error.TerminalException: The card was refused.]");
        partners.refuses = false;
        run.retryFailed();
        assertThat(run.result()).isEqualTo(new Receipt("P-1", "TRACK-1"));
        assertThat(partners.calls).containsOnlyOnce("pack");
    }

    @Test
    void after_a_restart_a_dag_is_found_by_its_id_looked_at_and_repaired(PerdureTest perdure) {
        perdure.register(dag);
        partners.refuses = true;
        assertThatThrownBy(perdure.start(dag, ORDER, id("order-42"))::result).isInstanceOf(RunFailedException.class);
        perdure.restart();
        // region look
        DagRun<Receipt> run =
                perdure.run(RunId.of("order-42"), TypeRef.of(Receipt.class)).dag(dag);
        DagStatus status = run.status();
        List<TaskError> errors = status.errors();
        Parcel parcel = status.outputs().get("pack", TypeRef.of(Parcel.class));
        String text = status.toText();
        String mermaid = status.toMermaid();
        String graphviz = status.toGraphviz();
        // endregion
        assertThat(errors).extracting(TaskError::task).containsExactly("charge");
        assertThat(parcel).isEqualTo(new Parcel("L-1"));
        assertThat(text).startsWith("order-dag order-42  FAILED\n");
        assertThat(mermaid).startsWith("flowchart TD\n").contains("t1 --> t2");
        assertThat(graphviz)
                .startsWith("digraph \"order-dag order-42  FAILED\" {\n")
                .contains("t1 -> t2;");
        assertThat(dag.toMermaid()).startsWith("flowchart TD\n").contains("t1 --> t2");
        partners.refuses = false;
        // region repair
        run.retryFailed();
        Receipt receipt = run.result();
        // endregion
        assertThat(receipt).isEqualTo(new Receipt("P-1", "TRACK-1"));
        assertThat(partners.calls).containsOnlyOnce("pack");
    }

    // ---- quoted by the guide

    record Review(boolean needed) {}

    // region conditions
    static final Dag<Order, String> REVIEWED = Dag.of("reviewed", Order.class, dag -> {
        var risk = dag.task("risk", task -> new Review(task.input().cents() > 100_000));
        var review = dag.after(risk)
                .task("review", (task, found) -> "seen by a person")
                .onlyIf((task, found) -> found.needed()) // otherwise the engine skips the task
                .waitForEither(Duration.ofDays(2), "reviewed"); // waits for an event, but at most two days
        return dag.after(risk, review).task("book", (task, found, seen) -> seen == null ? "booked" : "booked, " + seen);
    });
    // endregion

    @Test
    void a_review_is_waited_for_only_if_it_is_needed(PerdureTest perdure) {
        perdure.register(REVIEWED);
        assertThat(perdure.start(REVIEWED, ORDER).result()).isEqualTo("booked");
        DagRun<String> large = perdure.start(REVIEWED, new Order("house", 10_000_000));
        perdure.settle();
        assertThat(large.status().task("review").orElseThrow().state()).isEqualTo(RunState.SUSPENDED);
        perdure.emit(Topic.of("reviewed", String.class), "fine");
        assertThat(large.result()).isEqualTo("booked, seen by a person");
    }

    // region for-each
    static final Dag<Integer, Long> MAILING = Dag.of("mailing", Integer.class, dag -> {
        var customers =
                dag.task("customers", task -> customers(task.input())).returning(new TypeRef<List<String>>() {});
        var mails = dag.forEach(customers)
                .task("mail", (task, customer) -> mail(customer))
                .parallelism(20)
                .collect(); // if one fails, the others continue
        return dag.after(mails)
                .task(
                        "sent",
                        (task, all) -> all.stream().filter(Collected::succeeded).count());
    });
    // endregion

    private static List<String> customers(int count) {
        return IntStream.range(0, count)
                .mapToObj(number -> "customer-" + number)
                .toList();
    }

    private static String mail(String customer) {
        if (customer.endsWith("3")) {
            throw new TerminalException("no such address");
        }
        return "sent to " + customer;
    }

    @Test
    void mails_go_to_all_customers_with_an_address(PerdureTest perdure) {
        perdure.register(MAILING);
        assertThat(perdure.start(MAILING, 5).result()).isEqualTo(4);
        assertThat(perdure.start(MAILING, 0).result()).isEqualTo(0);
    }

    // region workflow
    static final Dag<Order, String> PATIENT = Dag.of("patient", Order.class, dag -> {
        var parcel = dag.task("pack", task -> new Parcel(task.input().item()));
        return dag.after(parcel).workflow("deliver", (ctx, task, packed) -> {
            String van = ctx.step("load", () -> "van-7 with " + packed.label());
            ctx.sleep(Duration.ofHours(12)); // holds no thread and no heap
            return ctx.step("hand over", () -> "handed over from " + van);
        });
    });
    // endregion

    @Test
    void a_task_may_be_a_durable_function(PerdureTest perdure) {
        perdure.register(PATIENT);
        assertThat(perdure.start(PATIENT, ORDER).result()).isEqualTo("handed over from van-7 with book");
    }
}
