package dev.perdure.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Perdure;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.interceptor.Interceptor;
import dev.perdure.interceptor.StartCall;
import dev.perdure.postgres.PostgresStore;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Runs commands on a database of its own, and keeps what they print. */
abstract class CommandsOnPostgres {
    /** One for all tests: to build the tree of commands takes more processor time than most commands. */
    private static final CommandLine COMMANDS =
            Main.commandLine().setColorScheme(CommandLine.Help.defaultColorScheme(CommandLine.Help.Ansi.OFF));

    private static SharedPostgres.Fresh database;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @BeforeAll
    static void open() {
        database = SharedPostgres.database("cli");
    }

    @AfterAll
    static void close() {
        database.close();
    }

    static SharedPostgres.Fresh database() {
        return database;
    }

    final String out() {
        return out.toString();
    }

    final String err() {
        return err.toString();
    }

    final int perdure(String... args) {
        return COMMANDS.setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .execute(args);
    }

    /** What a command prints with {@code --json}. */
    final JsonNode json(String... args) {
        int before = out.getBuffer().length();
        assertThat(perdure(onDatabase(
                        Stream.concat(Stream.of(args), Stream.of("--json")).toArray(String[]::new))))
                .isZero();
        String printed = out.getBuffer().substring(before);
        assertThat(printed.lines()).hasSize(1);
        return new JsonMapper().readTree(printed);
    }

    final String[] onDatabase(String... args) {
        Stream<String> where =
                Stream.of("--url", database.jdbcUrl(), "--user", database.user(), "--password", database.password());
        return Stream.concat(Stream.of(args), where).toArray(String[]::new);
    }

    /** Gives runs whose ids begin with "found" a header. */
    private static final Interceptor TRACED = new Interceptor() {
        @Override
        public StartCall start(StartCall call) {
            return call.run().value().startsWith("found") ? call.with("trace", "00-" + call.run()) : call;
        }
    };

    final void withClient(Consumer<Perdure> work) {
        assertThat(perdure(onDatabase("migrate"))).isZero();
        try (PostgresStore store = PostgresStore.on(database.dataSource())
                        .notifications(false)
                        .open();
                Perdure client = Perdure.on(store).interceptor(TRACED).client()) {
            work.accept(client);
        }
    }
}
