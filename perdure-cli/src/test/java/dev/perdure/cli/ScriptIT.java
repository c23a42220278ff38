package dev.perdure.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Runs the script {@code ./perdure} after Maven has built the module. */
class ScriptIT {
    private static final Path MODULE = Path.of("").toAbsolutePath();

    @Test
    void the_script_does_not_build_again_what_maven_has_just_built() throws Exception {
        assumeThat(MODULE.resolve("target/built")).exists(); // an IDE runs this test without the package phase
        Process script = new ProcessBuilder(MODULE.resolveSibling("perdure").toString(), "--version")
                .redirectErrorStream(true)
                .start();
        script.getOutputStream().close();
        String printed = new String(script.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(script.waitFor(1, TimeUnit.MINUTES)).isTrue();
        assertThat(Files.readString(MODULE.resolveSibling("pom.xml")))
                .contains("<revision>" + printed.strip() + "</revision>");
    }
}
