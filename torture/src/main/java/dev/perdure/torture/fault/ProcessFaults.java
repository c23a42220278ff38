package dev.perdure.torture.fault;

import dev.perdure.torture.setup.Site;
import dev.perdure.torture.setup.WorkerProcess;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/** What is done to worker processes. */
final class ProcessFaults {
    private ProcessFaults() {}

    static void kill(Site site, Random chance) throws Exception {
        site.workers().at(chance.nextInt(site.workers().count())).kill();
    }

    static void stop(Site site, Random chance) throws Exception {
        WorkerProcess worker = site.workers().at(chance.nextInt(site.workers().count()));
        site.stopped().add(worker.pid());
        if (!worker.signal("STOP")) {
            return; // another fault has killed it
        }
        try {
            LockSupport.parkNanos(Site.LEASE.multipliedBy(3).toNanos());
        } finally {
            worker.signal("CONT");
        }
    }

    static void deploy(Site site, Random chance) throws Exception {
        for (int place = 0; place < site.workers().count(); place++) {
            site.workers().at(place).end();
        }
    }
}
