package dev.perdure.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OptionsTest {
    private final Options options = EmbeddedPostgres.options();

    @ParameterizedTest
    @ValueSource(strings = {"fsync", "synchronous_commit", "Full_Page_Writes", "listen_addresses", "port"})
    void durability_and_reach_cannot_be_changed(String name) {
        assertThatIllegalArgumentException().isThrownBy(() -> options.setting(name, "off"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "x = 1\nfsync", "a.b.c", "1x"})
    void a_name_that_is_none_is_refused(String name) {
        assertThatIllegalArgumentException().isThrownBy(() -> options.setting(name, "on"));
    }

    @Test
    void a_value_that_would_be_two_lines_is_refused() {
        assertThatIllegalArgumentException().isThrownBy(() -> options.setting("work_mem", "4MB'\nfsync = 'off"));
    }

    @Test
    void impossible_ports_and_times_are_refused() {
        assertThatIllegalArgumentException().isThrownBy(() -> options.port(-1));
        assertThatIllegalArgumentException().isThrownBy(() -> options.port(65_536));
        assertThatIllegalArgumentException().isThrownBy(() -> options.startTimeout(Duration.ZERO));
    }

    @Test
    void options_are_values() {
        assertThat(options.setting("work_mem", "8MB").settings()).containsEntry("work_mem", "8MB");
        assertThat(options.settings()).isEmpty();
    }
}
