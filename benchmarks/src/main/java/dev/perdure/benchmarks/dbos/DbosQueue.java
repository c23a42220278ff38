package dev.perdure.benchmarks.dbos;

import dev.dbos.transact.DBOS;
import dev.dbos.transact.DBOSClient;
import dev.dbos.transact.workflow.Workflow;
import dev.perdure.benchmarks.measure.Burst;
import dev.perdure.benchmarks.server.BenchDatabase;
import dev.perdure.benchmarks.workload.Queue;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.IntConsumer;

/** DBOS across processes: its client enqueues jobs, an executor runs them, with the default settings of the queue. */
public class DbosQueue implements Queue {
    private static final String QUEUE = "jobs";
    /** The number of concurrent calls that keep its pool of 10 busy. DBOS has no call that enqueues many jobs. */
    private static final int CALLERS = 16;

    private final dev.dbos.transact.workflow.Queue queue;
    private final int keys;

    /** A queue that is limited to 64 jobs at once. */
    public static final class Limited extends DbosQueue {
        /** For the worker's process, too. */
        public Limited() {
            super(new dev.dbos.transact.workflow.Queue(QUEUE).withConcurrency(64), 0);
        }
    }

    /** A partitioned queue of 1,000 keys, with two jobs of each at once. */
    public static final class Keyed extends DbosQueue {
        /** For the worker's process, too. */
        public Keyed() {
            super(
                    new dev.dbos.transact.workflow.Queue(QUEUE)
                            .withPartitioningEnabled(true)
                            .withConcurrency(2),
                    1_000);
        }
    }

    /** A queue without limits. */
    public DbosQueue() {
        this(new dev.dbos.transact.workflow.Queue(QUEUE), 0);
    }

    /** @param keys over how many keys the jobs are spread, or 0 */
    private DbosQueue(dev.dbos.transact.workflow.Queue queue, int keys) {
        this.queue = queue;
        this.keys = keys;
    }

    /** The interface of which DBOS makes a proxy. */
    public interface Job {
        int run(int number);
    }

    private static final class Implementation implements Job {
        private final DBOS dbos;
        private final IntConsumer begins;

        Implementation(DBOS dbos, IntConsumer begins) {
            this.dbos = dbos;
            this.begins = begins;
        }

        @Override
        @Workflow(name = "job")
        public int run(int number) {
            return dbos.runStep(
                    () -> {
                        begins.accept(number);
                        return number;
                    },
                    "begin");
        }
    }

    @Override
    public Producer producer(BenchDatabase database) {
        DBOSClient client = new DBOSClient(database.countedUrl(), database.user(), database.password());
        var options = new DBOSClient.EnqueueOptions("job", Implementation.class.getName(), QUEUE);
        return new Producer() {
            @Override
            public void start(List<Integer> numbers) throws Exception {
                ConcurrentLinkedQueue<Integer> left = new ConcurrentLinkedQueue<>(numbers);
                Burst.seconds(Math.min(CALLERS, numbers.size()), () -> {
                    for (Integer number = left.poll(); number != null; number = left.poll()) {
                        client.enqueueWorkflow(
                                keys == 0 ? options : options.withQueuePartitionKey("key-" + number % keys),
                                new Object[] {number});
                    }
                });
            }

            @Override
            public void close() {
                client.close();
            }
        };
    }

    @Override
    public Consumer consumer(BenchDatabase database, IntConsumer begins) {
        DBOS dbos = new DBOS(DbosSteps.config(database));
        dbos.registerQueue(queue);
        dbos.registerProxy(Job.class, new Implementation(dbos, begins));
        dbos.launch();
        return dbos::close;
    }

    @Override
    public String unfinished() {
        return "SELECT count(*) FROM dbos.workflow_status WHERE status IN ('ENQUEUED', 'PENDING')";
    }
}
