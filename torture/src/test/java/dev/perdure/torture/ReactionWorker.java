package dev.perdure.torture;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Perdure;
import dev.perdure.error.TerminalException;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.reaction.Occasion;
import dev.perdure.reaction.Reaction;
import dev.perdure.reaction.RunEvent;
import dev.perdure.torture.setup.Site;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A worker process whose runs fail, to be killed. Ends with its standard input, so that it cannot outlive the test. */
public final class ReactionWorker {
    /** Waits for a while, and then fails. */
    static final Definition<String, String> ORDER = Definition.of("order", String.class, String.class, (ctx, in) -> {
        ctx.step("charge", () -> {});
        ctx.sleep(Duration.ofMillis(2_500));
        throw new TerminalException("no stock for " + in);
    });

    /** What the reactions start. */
    static final Definition<RunEvent, @Nullable Void> ALERT =
            Definition.of("alert", RunEvent.class, (ctx, event) -> ctx.step("page", () -> {}));

    static final Reaction FAILED =
            Reaction.named("failed").of("order").when(Occasion.FAILED).start(ALERT);
    static final Reaction SLOW =
            Reaction.named("slow").of("order").late(Duration.ofSeconds(2)).start(ALERT);

    private ReactionWorker() {}

    /** Arguments: the JDBC URL, the user, the password. */
    public static void main(String... args) throws IOException {
        try (HikariDataSource pool = SmallPool.of(args[0], args[1], args[2]);
                PostgresStore store = PostgresStore.on(pool).open()) {
            Perdure worker =
                    Perdure.on(store).register(ORDER, ALERT).lease(Site.LEASE).start();
            System.out.println("ready");
            System.in.readAllBytes();
            worker.close();
        }
    }
}
