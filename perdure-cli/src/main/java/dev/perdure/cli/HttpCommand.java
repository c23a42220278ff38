package dev.perdure.cli;

import dev.perdure.cli.output.Output;
import dev.perdure.cli.output.Page;
import dev.perdure.http.ApiServer;
import dev.perdure.http.HttpApi;
import dev.perdure.http.security.Role;
import dev.perdure.http.security.Tokens;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.HexFormat;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Serves the HTTP API of a database. */
@Command(
        name = "http",
        mixinStandardHelpOptions = true,
        description = {
            "Serve the HTTP API of a database on loopback until Ctrl-C, and print its address and a token.",
            "It reads and commands. Workflows are started where they are registered, in your application."
        })
final class HttpCommand implements Callable<Integer> {
    /** One connection less than the pool has. */
    private static final int CONCURRENCY = 3;

    private static final int TOKEN_BYTES = 32;

    @Mixin
    private DatabaseOptions database = new DatabaseOptions();

    @Mixin
    private Output output = new Output();

    @Option(names = "--port", defaultValue = "0", description = "The port. Default: a free one.")
    private int port;

    @Option(
            names = "--token",
            defaultValue = "${env:PERDURE_TOKEN}",
            description = "The token of the caller, with the role ADMIN. Default: $PERDURE_TOKEN, or a new one.")
    private @Nullable String token;

    HttpCommand() {}

    @Override
    public Integer call() {
        return database.with(this::serve);
    }

    private int serve(OpenDatabase open) {
        String secret = token == null || token.isEmpty() ? random() : token;
        HttpApi api = HttpApi.on(open.perdure())
                .authentication(Tokens.none().with(database.operator().name(), Role.ADMIN, secret))
                .concurrency(CONCURRENCY)
                .build();
        try (ApiServer server = ApiServer.of(api).port(port).start()) {
            output.print(new Page(Instant.now())
                    .value("uri", server.uri())
                    .value("token", secret)
                    .note(server.uri().toString())
                    .note("Authorization: Bearer " + secret)
                    .note("Press Ctrl-C to stop."));
            new CountDownLatch(1).await();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        return 0;
    }

    private static String random() {
        byte[] bytes = new byte[TOKEN_BYTES];
        new SecureRandom().nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }
}
