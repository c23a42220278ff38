package dev.perdure.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import dev.perdure.benchmarks.cost.ServerTime;
import dev.perdure.benchmarks.measure.Who;
import dev.perdure.benchmarks.process.Jvm;
import dev.perdure.benchmarks.server.Observer;
import dev.perdure.benchmarks.server.Server;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** What a run was measured on and with: figures without it mean nothing. */
final class Machine {
    private Machine() {}

    static List<String> description(Server server, Set<Who> who) throws SQLException, IOException {
        List<String> lines = new ArrayList<>();
        var system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        lines.add("%s %s, %d cores, %d GiB"
                .formatted(
                        System.getProperty("os.name"),
                        System.getProperty("os.arch"),
                        system.getAvailableProcessors(),
                        system.getTotalMemorySize() >> 30));
        lines.add(Jvm.description() + ", a process each");
        lines.addAll(server.description());
        try (Observer observer = new Observer(server.home())) {
            if (!ServerTime.of(observer).known()) {
                lines.add("the server's processor time is not known: its processes are not visible here");
            }
        }
        who.forEach(one -> lines.add(one + ": " + one.description()));
        return lines;
    }
}
