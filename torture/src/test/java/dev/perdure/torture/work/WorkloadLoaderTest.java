package dev.perdure.torture.work;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WorkloadLoaderTest {
    @TempDir
    private Path empty;

    @Test
    void the_workloads_of_another_build_are_loaded_from_there_and_understood_here() throws Exception {
        Path classes = Path.of(Workloads.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        List<Workload> loaded = Workloads.of(classes);
        assertThat(loaded)
                .extracting(Workload::name)
                .isEqualTo(Workloads.ALL.stream().map(Workload::name).toList());
        assertThat(loaded)
                .allSatisfy(workload ->
                        assertThat(workload.getClass().getClassLoader()).isNotSameAs(Workload.class.getClassLoader()));
    }

    @Test
    void a_folder_without_workloads_is_refused() {
        assertThatThrownBy(() -> Workloads.of(empty))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("The folder '%s' has no workloads.".formatted(empty));
    }
}
