package dev.perdure.benchmarks.micro;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.memory.MemoryStore;
import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Resumes a run in the memory store, which replays its journal and sleeps again. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class ReplayBenchmark {
    /** The length of the journal. */
    @Param({"10", "1000"})
    public int entries;

    private final LinkedBlockingQueue<Integer> arrivals = new LinkedBlockingQueue<>();
    private final Definition<Integer, Integer> workflow =
            Definition.of("replayed", Integer.class, Integer.class, (ctx, count) -> {
                int last = 0;
                for (int i = 0; i < count; i++) {
                    int number = i;
                    last = ctx.step("step", () -> number);
                }
                arrivals.add(last);
                ctx.sleep(Duration.ofDays(1));
                return last;
            });
    private final Perdure perdure =
            Perdure.on(new MemoryStore()).register(workflow).start();
    private Run<Integer> run;

    @Setup
    public void start() throws InterruptedException {
        run = perdure.start(Invocation.of(workflow, entries));
        arrivals.take();
    }

    @Setup(Level.Invocation)
    public void pause() {
        while (run.state() != RunState.SUSPENDED) {
            Thread.onSpinWait();
        }
        run.pause("to be resumed");
    }

    @Benchmark
    public int replay() throws InterruptedException {
        run.resume();
        return arrivals.take();
    }

    @TearDown
    public void close() {
        perdure.close();
    }
}
