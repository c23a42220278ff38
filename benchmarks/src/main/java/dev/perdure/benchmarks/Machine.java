package dev.perdure.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import dev.perdure.benchmarks.cost.ServerTime;
import dev.perdure.benchmarks.measure.Contender;
import dev.perdure.benchmarks.process.Jvm;
import dev.perdure.benchmarks.server.Observer;
import dev.perdure.benchmarks.server.Server;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Describes the machine and the software of a run. Figures mean nothing without it. */
final class Machine {
    private Machine() {}

    static List<String> description(Server server, Set<Contender> contenders) throws SQLException, IOException {
        List<String> lines = new ArrayList<>();
        var system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        lines.add("%s %s, %d cores, %d GiB"
                .formatted(
                        System.getProperty("os.name"),
                        System.getProperty("os.arch"),
                        system.getAvailableProcessors(),
                        system.getTotalMemorySize() >> 30));
        lines.add(Jvm.description() + ", one process per measurement");
        lines.addAll(server.description());
        try (Observer observer = new Observer(server.home())) {
            if (!ServerTime.of(observer).known()) {
                lines.add("the server's processor time is unknown: its processes are not visible on this machine");
            }
        }
        contenders.forEach(contender -> lines.add(contender + ": " + contender.description()));
        return lines;
    }
}
