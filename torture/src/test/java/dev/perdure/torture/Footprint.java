package dev.perdure.torture;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.management.ObjectName;

/** What this JVM holds: threads, virtual ones too, and objects that are in use. */
final class Footprint {
    private static final Pattern HISTOGRAM_LINE = Pattern.compile("^ *\\d+: +(\\d+) +\\d+ +(\\S+)", Pattern.MULTILINE);

    private Footprint() {}

    /** How many threads have a name that begins so. */
    static long threads(String name) throws Exception {
        Path folder = Files.createTempDirectory("threads");
        Path dump = folder.resolve("dump.txt");
        try {
            ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                    .dumpThreads(dump.toString(), HotSpotDiagnosticMXBean.ThreadDumpFormat.TEXT_PLAIN);
            try (Stream<String> lines = Files.lines(dump)) {
                return lines.filter(line -> line.contains("\"" + name)).count();
            }
        } finally {
            Files.deleteIfExists(dump);
            Files.delete(folder);
        }
    }

    /** How many objects in use there are of the classes whose names begin so. Collects garbage first. */
    static Map<String, Long> instances(String prefix) throws Exception {
        String histogram = (String) ManagementFactory.getPlatformMBeanServer()
                .invoke(
                        new ObjectName("com.sun.management:type=DiagnosticCommand"),
                        "gcClassHistogram",
                        new Object[] {new String[0]},
                        new String[] {String[].class.getName()});
        return HISTOGRAM_LINE
                .matcher(histogram)
                .results()
                .filter(line -> line.group(2).startsWith(prefix))
                .collect(Collectors.toMap(line -> line.group(2), Footprint::count, Long::sum));
    }

    private static long count(MatchResult line) {
        return Long.parseLong(line.group(1));
    }

    /** Bytes in use after the garbage is collected. */
    static long usedHeap() throws Exception {
        instances("");
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
