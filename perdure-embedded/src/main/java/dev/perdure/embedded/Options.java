package dev.perdure.embedded;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The options of an embedded server. Immutable: each method returns a changed copy.
 *
 * {@snippet :
 * EmbeddedPostgres.options().dataFolder(Path.of("data")).port(5432).setting("shared_buffers", "512MB")
 * }
 */
public final class Options {
    private static final Set<String> FIXED = Set.of(
            "fsync",
            "synchronous_commit",
            "full_page_writes",
            "port",
            "listen_addresses",
            "unix_socket_directories",
            "data_directory",
            "config_file",
            "hba_file",
            "logging_collector");

    static final Options DEFAULTS = new Options(null, null, 0, Duration.ofSeconds(60), Map.of());

    private final @Nullable Path programs;
    private final @Nullable Path dataFolder;
    private final int port;
    private final Duration startTimeout;
    private final Map<String, String> settings;

    private Options(
            @Nullable Path programs,
            @Nullable Path dataFolder,
            int port,
            Duration startTimeout,
            Map<String, String> settings) {
        this.programs = programs;
        this.dataFolder = dataFolder;
        this.port = port;
        this.startTimeout = startTimeout;
        this.settings = settings;
    }

    /**
     * Runs the PostgreSQL that is installed on this machine. By default, it runs the one from the jar, which has fewer
     * features: it cannot compile statements (JIT).
     *
     * @param folder the folder of initdb, pg_ctl and postgres, such as {@code /usr/lib/postgresql/17/bin}
     */
    public Options programs(Path folder) {
        return new Options(folder, dataFolder, port, startTimeout, settings);
    }

    /**
     * Keeps the data in this folder across restarts. By default the data are in a temporary folder, which is deleted at
     * the end.
     *
     * @param folder an empty folder, one that does not exist yet, or one that an embedded server has used before
     */
    public Options dataFolder(Path folder) {
        return new Options(programs, folder, port, startTimeout, settings);
    }

    /**
     * Listens on this port. By default, or with 0, each start finds a free port.
     *
     * @param port the port, on 127.0.0.1
     */
    public Options port(int port) {
        if (port < 0 || port > 65_535) {
            throw new IllegalArgumentException("A port is between 1 and 65535, or 0 for any free one, not " + port);
        }
        return new Options(programs, dataFolder, port, startTimeout, settings);
    }

    /**
     * Gives up a start that takes longer. One minute by default.
     *
     * @param timeout at least a second
     */
    public Options startTimeout(Duration timeout) {
        if (timeout.compareTo(Duration.ofSeconds(1)) < 0) {
            throw new IllegalArgumentException("The start timeout must be at least one second, not " + timeout);
        }
        return new Options(programs, dataFolder, port, timeout, settings);
    }

    /**
     * Sets a parameter of the server, as in {@code postgresql.conf}. The parameters that make the server durable and
     * keep it local to this machine are fixed.
     *
     * @param name such as {@code shared_buffers}
     * @param value such as {@code 512MB}
     */
    public Options setting(String name, String value) {
        var key = name.toLowerCase(Locale.ROOT);
        if (!key.matches("[a-z_][a-z0-9_]*(\\.[a-z_][a-z0-9_]*)?")) {
            throw new IllegalArgumentException("Not the name of a setting: " + name);
        }
        if (FIXED.contains(key)) {
            throw new IllegalArgumentException(
                    key.equals("port") ? "Use port(int) for the port" : "The setting " + key + " is fixed");
        }
        if (value.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException("The value of " + key + " contains control characters");
        }
        var more = new TreeMap<>(settings);
        more.put(key, value);
        return new Options(programs, dataFolder, port, startTimeout, Collections.unmodifiableMap(more));
    }

    Optional<Path> programs() {
        return Optional.ofNullable(programs);
    }

    Optional<Path> dataFolder() {
        return Optional.ofNullable(dataFolder);
    }

    int port() {
        return port;
    }

    Duration startTimeout() {
        return startTimeout;
    }

    Map<String, String> settings() {
        return settings;
    }
}
