package dev.perdure.benchmarks.workload;

import dev.perdure.benchmarks.measure.Timestamps;
import dev.perdure.benchmarks.process.ChildProcess;
import dev.perdure.benchmarks.process.Jvm;
import dev.perdure.benchmarks.server.BenchDatabase;
import org.jspecify.annotations.Nullable;

/** The process that runs queued jobs. */
public final class QueueWorkerMain {
    private final Queue queue;
    private final BenchDatabase database;
    private Timestamps begun = new Timestamps(0);
    private Queue.@Nullable Consumer consumer;

    private QueueWorkerMain(Queue queue, BenchDatabase database) {
        this.queue = queue;
        this.database = database;
    }

    /** Arguments: the database (see {@link Jvm}), the class of the queue. */
    public static void main(String... args) throws Exception {
        Queue queue = Class.forName(args[2])
                .asSubclass(Queue.class)
                .getDeclaredConstructor()
                .newInstance();
        QueueWorkerMain worker = new QueueWorkerMain(queue, Jvm.database(args));
        ChildProcess.answer(command -> worker.obey(command.split(" ")));
    }

    private String obey(String... words) throws Exception {
        return switch (words[0]) {
            case "open" -> open(Integer.parseInt(words[1]));
            case "await" -> await();
            case "close" -> close();
            default -> throw new IllegalArgumentException(words[0]);
        };
    }

    private String open(int count) throws Exception {
        begun = new Timestamps(count);
        consumer = queue.consumer(database, begun::note);
        return "open";
    }

    private String await() throws InterruptedException {
        begun.await();
        return begun.line();
    }

    private String close() {
        if (consumer != null) {
            consumer.close();
        }
        return "closed";
    }
}
