package dev.perdure.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.memory.MemoryStore;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.ObjectHandle;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Calls that are sent and calls that are awaited, of one virtual object, by many callers in two processes. */
public final class LocalCallerOrderTest {
    private static final StateKey<List<String>> LINES = StateKey.of("lines", new TypeRef<>() {});
    private static final int CALLERS = 12;
    private static final int EACH = 40;

    /** Keeps what it is told. */
    @VirtualObject("local-diary")
    public static final class Diary {
        /** Appends a line. */
        @Handler
        public int append(ObjectContext ctx, String line) {
            List<String> lines = new ArrayList<>(ctx.get(LINES).orElse(List.of()));
            lines.add(line);
            ctx.set(LINES, lines);
            return lines.size();
        }
    }

    @Test
    void the_calls_of_a_caller_have_their_turns_in_its_order_whether_sent_or_awaited() throws Exception {
        MemoryStore rows = new MemoryStore();
        try (Perdure one = Perdure.on(rows).register(new Diary()).start();
                Perdure two = Perdure.on(rows).register(new Diary()).start();
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Run<Integer>>> callers = IntStream.range(0, CALLERS)
                    .mapToObj(caller -> threads.submit(() -> write(caller % 4 == 0 ? two : one, caller)))
                    .toList();
            for (Future<Run<Integer>> caller : callers) {
                caller.get().result();
            }
            List<String> lines =
                    one.object(Diary.class, "hot").state().get(LINES).orElseThrow();
            assertThat(lines).hasSize(CALLERS * EACH);
            for (int caller = 0; caller < CALLERS; caller++) {
                String prefix = caller + ":";
                assertThat(lines.stream().filter(line -> line.startsWith(prefix)))
                        .isEqualTo(IntStream.range(0, EACH)
                                .mapToObj(i -> prefix + i)
                                .toList());
            }
        }
    }

    /** Every third is sent; the last, too, and given back. */
    private static Run<Integer> write(Perdure perdure, int caller) {
        ObjectHandle<Diary> diary = perdure.object(Diary.class, "hot");
        for (int i = 0; i < EACH - 1; i++) {
            String line = caller + ":" + i;
            if (i % 3 == 0) {
                diary.send(Diary::append, line, StartOptions.defaults());
            } else {
                diary.call(Diary::append, line);
            }
        }
        return diary.send(Diary::append, caller + ":" + (EACH - 1), StartOptions.defaults());
    }
}
