package dev.perdure.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.testing.internal.simulation.Histories;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 5, unit = TimeUnit.MINUTES)
class SameTraceTest {
    private static final int SEEDS = 1;

    /** Prints the timelines of the first seeds. */
    public static final class Traces {
        private Traces() {}

        public static void main(String[] arguments) throws IOException {
            Files.writeString(Path.of(arguments[0]), text());
        }

        static String text() {
            Histories histories = Workload.histories();
            List<String> lines = new ArrayList<>();
            for (long seed = 1; seed <= SEEDS; seed++) {
                Histories.History history = histories.trace(seed);
                lines.add("Seed %d, %d turns".formatted(seed, history.turns()));
                lines.addAll(history.lines());
            }
            return String.join("\n", lines);
        }
    }

    @Test
    void a_seed_gives_the_same_history_byte_for_byte_in_another_virtual_machine(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("traces");
        Process other = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UnlockExperimentalVMOptions",
                        "-XX:hashCode=2",
                        "-Xint",
                        "-cp",
                        classPath(),
                        Traces.class.getName(),
                        file.toString())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String here = Traces.text();
        assertThat(other.waitFor()).isZero();
        assertThat(Files.readString(file)).isEqualTo(here);
        assertThat(here.lines().count()).isGreaterThan(SEEDS * 10);
    }

    /** Also when the tests run as a module. */
    private static String classPath() {
        String modules = System.getProperty("jdk.module.path", "");
        String classes = Path.of(location()).toString();
        return String.join(
                System.getProperty("path.separator"), System.getProperty("java.class.path"), modules, classes);
    }

    private static URI location() {
        try {
            return SameTraceTest.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI();
        } catch (URISyntaxException malformed) {
            throw new IllegalStateException(malformed);
        }
    }
}
