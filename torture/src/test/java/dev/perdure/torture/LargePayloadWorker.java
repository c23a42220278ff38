package dev.perdure.torture;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.postgres.PostgresStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;

/** A process with a small heap, in which several steps return large values at the same time. */
public final class LargePayloadWorker {
    static final int SIZE = 64 * 1024 * 1024;
    static final int AT_ONCE = 4;

    private LargePayloadWorker() {}

    /** Arguments: the JDBC URL, the user, the password. */
    public static void main(String... args) {
        CyclicBarrier together = new CyclicBarrier(AT_ONCE);
        Definition<Integer, Integer> flow = Definition.of("large", Integer.class, Integer.class, (ctx, in) -> {
            String made = ctx.step("make", () -> {
                String text = Character.toString('a' + in).repeat(SIZE - 2);
                together.await();
                return text;
            });
            return ctx.step("measure", () -> made.length());
        });
        try (HikariDataSource pool = SmallPool.of(args[0], args[1], args[2], 3);
                PostgresStore store =
                        PostgresStore.on(pool).lanes(1).notifications(false).open();
                Perdure perdure =
                        Perdure.on(store).register(flow).maxPayloadBytes(SIZE).start()) {
            System.out.println("ready");
            List<Run<Integer>> runs = new ArrayList<>();
            for (int i = 0; i < AT_ONCE; i++) {
                runs.add(perdure.start(Invocation.of(flow, i)));
            }
            runs.forEach(run -> System.out.println(run.result()));
        }
    }
}
