package dev.perdure.benchmarks.workload;

import dev.perdure.benchmarks.measure.Moments;
import dev.perdure.benchmarks.process.Conversation;
import dev.perdure.benchmarks.process.Jvm;
import dev.perdure.benchmarks.server.Site;
import org.jspecify.annotations.Nullable;

/** The process that runs queued jobs. */
public final class QueueWorkerMain {
    private final Queue queue;
    private final Site site;
    private Moments begun = new Moments(0);
    private Queue.@Nullable Consumer consumer;

    private QueueWorkerMain(Queue queue, Site site) {
        this.queue = queue;
        this.site = site;
    }

    /** Arguments: the database (see {@link Jvm}), the class of the queue. */
    public static void main(String... args) throws Exception {
        Queue queue = Class.forName(args[2])
                .asSubclass(Queue.class)
                .getDeclaredConstructor()
                .newInstance();
        QueueWorkerMain worker = new QueueWorkerMain(queue, Jvm.site(args));
        Conversation.answer(command -> worker.obey(command.split(" ")));
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
        begun = new Moments(count);
        consumer = queue.consumer(site, begun::note);
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
