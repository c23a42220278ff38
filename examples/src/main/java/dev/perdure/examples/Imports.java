package dev.perdure.examples;

import static dev.perdure.StartOptions.id;

import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.error.KeyFullException;
import dev.perdure.memory.MemoryStore;
import dev.perdure.queue.Queue;
import dev.perdure.queue.QueueInfo;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Imports the files of many customers: twenty at once, and of one customer two. */
public final class Imports {
    /** A file that a customer has uploaded. */
    public record Upload(String customer, String name) {}

    /** Where the rows of a file go. */
    public interface Warehouse {
        /** Loads a file and returns how many rows it had. */
        int load(String file);
    }

    // region queue
    public static final Queue QUEUE = Queue.named("imports").concurrency(20).perKey(2);
    // endregion

    // region rate
    /** A partner's API allows 100 calls a minute, and a customer may use 20 of them. */
    public static final Queue LOOKUPS =
            Queue.named("lookups").rate(100, Duration.ofMinutes(1)).burst(10).ratePerKey(20, Duration.ofMinutes(1));
    // endregion

    // region latest
    /** Of each report only the latest request counts: it cancels the one before. */
    public static final Queue REPORTS = Queue.named("reports").perKey(1).whenKeyFull(Queue.WhenKeyFull.CANCEL_OLDEST);
    // endregion

    private final Warehouse warehouse;

    /** Imports into this warehouse. */
    public Imports(Warehouse warehouse) {
        this.warehouse = warehouse;
    }

    /** Imports a file. */
    @Workflow("import")
    public int load(WorkflowContext ctx, Upload upload) {
        return ctx.step("load", () -> warehouse.load(upload.name()));
    }

    // region start
    /** Starts the import of a file, under the key of its customer. */
    public static Run<Integer> start(Perdure perdure, Upload upload) {
        return perdure.start(
                Imports::load,
                upload,
                id("import-" + upload.name()).queue(QUEUE.name()).key(upload.customer()));
    }
    // endregion

    // region weight
    /** Starts an import that makes as many calls as its file has parts. */
    public static Run<Integer> lookUp(Perdure perdure, Upload upload, int parts) {
        return perdure.start(
                Imports::load,
                upload,
                id("lookup-" + upload.name())
                        .queue(LOOKUPS.name())
                        .key(upload.customer())
                        .weight(parts));
    }
    // endregion

    // region refuse
    /** Starts an import, or says that the customer has two already. */
    public static Optional<Run<Integer>> startIfFree(Perdure perdure, Upload upload) {
        try {
            return Optional.of(start(perdure, upload));
        } catch (KeyFullException full) {
            return Optional.empty();
        }
    }
    // endregion

    // region turns
    /** A customer that pays gets three turns where another gets one, in processes that run already, too. */
    public static void upgrade(Perdure perdure, String customer) {
        perdure.queues().limit(Queue.named(QUEUE.name()).turns(customer, 3));
    }
    // endregion

    // region operate
    /** Stops all imports while the warehouse is down, and goes on more slowly afterwards. */
    public static QueueInfo slowDown(Perdure perdure, Runnable repair) {
        perdure.queues().pause(QUEUE.name(), "the warehouse is down");
        repair.run();
        perdure.queues().limit(Queue.named(QUEUE.name()).concurrency(5));
        perdure.queues().resume(QUEUE.name());
        return perdure.queues().get(QUEUE.name());
    }
    // endregion

    /** Imports ten files of a large customer and one of a small one. */
    public static void main(String[] args) {
        // region declare
        try (Perdure perdure = Perdure.on(new MemoryStore())
                .register(new Imports(String::length))
                .queues(QUEUE)
                .start()) {
            // endregion
            List<Run<Integer>> runs = IntStream.range(0, 10)
                    .mapToObj(i -> start(perdure, new Upload("large", "large-" + i + ".csv")))
                    .toList();
            System.out.println(
                    "small: " + start(perdure, new Upload("small", "small.csv")).result() + " rows");
            System.out.println("large: " + runs.stream().mapToInt(Run::result).sum() + " rows");
        }
    }
}
