package dev.perdure.torture;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.StartOptions;
import dev.perdure.postgres.PostgresStore;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;

/** A worker process with the default lease that stays in the body of a run until it is killed. */
public final class TakeoverWorker {
    private TakeoverWorker() {}

    /** One step with this body. */
    static Definition<String, String> definition(Runnable body) {
        return Definition.of(
                "taken-over",
                String.class,
                String.class,
                (ctx, input) -> ctx.step("body", () -> {
                    body.run();
                    return input;
                }));
    }

    /** Arguments: the JDBC URL, the user, the password, the id of the run. Says that it is ready in the body. */
    public static void main(String... args) throws IOException {
        CountDownLatch forever = new CountDownLatch(1);
        Definition<String, String> stays = definition(() -> {
            System.out.println("ready");
            try {
                forever.await();
            } catch (InterruptedException interrupted) {
                System.out.println("interrupted");
            }
        });
        try (HikariDataSource pool = SmallPool.of(args[0], args[1], args[2]);
                PostgresStore store = PostgresStore.on(pool).open();
                Perdure worker = Perdure.on(store).register(stays).start()) {
            worker.start(Invocation.of(stays, "x"), StartOptions.id(args[3]));
            System.in.readAllBytes();
        }
    }
}
