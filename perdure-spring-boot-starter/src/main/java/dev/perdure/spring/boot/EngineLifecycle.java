package dev.perdure.spring.boot;

import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.queue.Queue;
import dev.perdure.spi.Store;
import dev.perdure.spring.boot.internal.EngineBeans;
import dev.perdure.spring.boot.internal.RunningEngine;
import dev.perdure.status.StoreHealth;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.Ordered;

/**
 * Starts and stops the engine with the application.
 *
 * <ol>
 *   <li>When all beans exist, and before the web server accepts requests, it registers workflows and starts an engine
 *       without a worker: the application can start runs.
 *   <li>When the application is ready, it starts an engine with a worker, before any other listener of that event.
 *   <li>When the application stops, and after the web server has answered its last request, it closes both. The
 *       connection pool is open until then.
 * </ol>
 *
 * <p>The first engine lives on beside the second, because handles from it are still in use. Thread-safe.
 */
final class EngineLifecycle
        implements RunningEngine, SmartLifecycle, ApplicationListener<ApplicationReadyEvent>, Ordered {
    /** Below the phases of the web server, which are at most 2,048 below the highest: starts before it, stops after. */
    private static final int PHASE = SmartLifecycle.DEFAULT_PHASE - 4096;

    private final Store store;
    private final PerdureProperties properties;
    private final ConfigurableApplicationContext application;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile @Nullable Perdure client;
    private volatile @Nullable Perdure worker;
    private @Nullable PerdureBuilder builder;
    private boolean ready;

    EngineLifecycle(Store store, PerdureProperties properties, ConfigurableApplicationContext application) {
        this.store = store;
        this.properties = properties;
        this.application = application;
    }

    @Override
    public Perdure current() {
        Perdure running = worker;
        Perdure engine = running == null ? client : running;
        if (engine == null) {
            throw RunningEngine.notRunning();
        }
        return engine;
    }

    @Override
    public StoreHealth health() {
        Perdure unused = current(); // throws if it does not run
        return store.health();
    }

    @Override
    public boolean works() {
        return worker != null;
    }

    @Override
    public void start() {
        lock.lock();
        try {
            if (client == null) {
                PerdureBuilder settings = builder();
                builder = settings;
                client = settings.client();
                work();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void onApplicationEvent(ApplicationReadyEvent event) {
        if (!event.getApplicationContext().equals(application)) {
            return; // of a child
        }
        lock.lock();
        try {
            ready = true;
            work();
        } finally {
            lock.unlock();
        }
    }

    /** Starts the worker. A context that is stopped and started again is ready at once. */
    private void work() {
        PerdureBuilder settings = builder;
        if (ready && settings != null && worker == null && properties.worker().enabled()) {
            worker = settings.start();
        }
    }

    @Override
    public void stop() {
        lock.lock();
        try {
            close(worker);
            worker = null;
            close(client);
            client = null;
            builder = null;
        } finally {
            lock.unlock();
        }
    }

    private static void close(@Nullable Perdure engine) {
        if (engine != null) {
            engine.close();
        }
    }

    @Override
    public boolean isRunning() {
        return client != null;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE; // a listener that awaits a run finds a worker
    }

    private PerdureBuilder builder() {
        EngineBeans beans = new EngineBeans(application.getBeanFactory());
        PerdureBuilder made = Perdure.on(store);
        made.register(beans.workflows());
        Queue[] queues = beans.queues().toArray(Queue[]::new);
        if (properties.worker().queues().isEmpty()) {
            made.queues(queues);
        } else {
            made.declare(queues); // the properties name those of the worker
        }
        made.schedules(beans.schedules());
        made.limiters(beans.limiters());
        made.reactions(beans.reactions());
        beans.listeners().forEach(made::listener);
        beans.interceptors().forEach(made::interceptor);
        beans.measurements().ifPresent(made::measurements);
        beans.retry().ifPresent(made::retry);
        beans.codec().ifPresent(made::codec);
        beans.transform().ifPresent(made::transform);
        beans.retention().ifPresent(made::retention);
        beans.operator().ifPresent(made::operator);
        properties.applyTo(made);
        beans.all(PerdureBuilderCustomizer.class).forEach(customizer -> customizer.customize(made));
        return made;
    }
}
