package dev.perdure.spring.boot.test;

import dev.perdure.Perdure;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.queue.Queue;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Store;
import dev.perdure.spring.boot.PerdureProperties;
import dev.perdure.spring.boot.internal.EngineBeans;
import dev.perdure.spring.boot.internal.RunningEngine;
import dev.perdure.status.StoreHealth;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.Ordered;

/**
 * The engine of the present test, in a schema of its own. It begins when it is first used, and {@link #end()} ends it.
 * Thread-safe.
 */
final class TestEngine implements RunningEngine, SmartLifecycle, ApplicationListener<ApplicationReadyEvent>, Ordered {
    /** As in the starter: before the web server, so that a request finds an engine. */
    private static final int PHASE = SmartLifecycle.DEFAULT_PHASE - 4096;

    private final SharedPostgres.Fresh database;
    private final PerdureProperties properties;
    private final ConfigurableApplicationContext application;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile boolean running;
    private volatile @Nullable PerdureTest kit;
    private volatile @Nullable PostgresStore store;
    private int schemas;

    TestEngine(
            SharedPostgres.Fresh database, PerdureProperties properties, ConfigurableApplicationContext application) {
        this.database = database;
        this.properties = properties;
        this.application = application;
    }

    @Override
    public PerdureTest current() {
        PerdureTest present = kit; // without the lock: a step may ask while the engine ends
        if (present != null) {
            return present;
        }
        lock.lock();
        try {
            present = kit;
            return present == null ? begin() : present;
        } finally {
            lock.unlock();
        }
    }

    /** The store of the present test. */
    PostgresStore store() {
        PerdureTest unused = current();
        return Objects.requireNonNull(store);
    }

    @Override
    public StoreHealth health() {
        return store().health();
    }

    @Override
    public boolean works() {
        return running;
    }

    private PerdureTest begin() {
        if (!running) {
            throw RunningEngine.notRunning();
        }
        PerdureTest made = PerdureTest.on(this::open, TestMode.NORMAL);
        try {
            setUp(made, new EngineBeans(application.getBeanFactory()));
            Perdure unused = made.client(); // starts it
        } catch (RuntimeException refused) {
            made.close();
            throw refused;
        }
        kit = made;
        return made;
    }

    private void setUp(PerdureTest made, EngineBeans beans) {
        made.register(beans.workflows());
        made.queues(beans.queues().toArray(Queue[]::new));
        made.schedules(beans.schedules());
        made.limiters(beans.limiters());
        made.reactions(beans.reactions());
        beans.listeners().forEach(made::listener);
        beans.interceptors().forEach(made::interceptor);
        beans.retry().ifPresent(made::retry);
        beans.codec().ifPresent(made::codec);
        beans.transform().ifPresent(made::transform);
        beans.retention().ifPresent(made::retention);
        Integer most = properties.maxPayloadBytes();
        if (most != null) {
            made.maxPayloadBytes(most);
        }
    }

    private Store open(Clockwork clockwork) {
        schemas++;
        String schema = Objects.requireNonNullElse(properties.store().schema(), "perdure") + "_" + schemas;
        PostgresStore opened = PostgresStore.on(database.dataSource())
                .schema(schema)
                .notifications(false)
                .time(clockwork::now)
                .open();
        store = opened;
        return opened;
    }

    /** Ends the engine of the test that is over. */
    void end() {
        lock.lock();
        try {
            PerdureTest over = kit;
            if (over != null) {
                over.close();
            }
        } finally {
            kit = null;
            store = null;
            lock.unlock();
        }
    }

    /** What the application did while it started belongs to no test. */
    @Override
    public void onApplicationEvent(ApplicationReadyEvent event) {
        if (event.getApplicationContext().equals(application)) {
            end();
        }
    }

    @Override
    public int getOrder() {
        return LOWEST_PRECEDENCE;
    }

    @Override
    public void start() {
        running = true;
    }

    @Override
    public void stop() {
        running = false;
        end();
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }
}
