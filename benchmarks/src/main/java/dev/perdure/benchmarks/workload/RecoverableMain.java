package dev.perdure.benchmarks.workload;

import dev.perdure.benchmarks.measure.Timestamps;
import dev.perdure.benchmarks.process.ChildProcess;
import dev.perdure.benchmarks.process.Jvm;
import dev.perdure.benchmarks.server.BenchDatabase;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntConsumer;

/** The main class of the process that the benchmark kills, and of its successor. */
public final class RecoverableMain {
    private final Recoverable recoverable;
    private final BenchDatabase database;

    private RecoverableMain(Recoverable recoverable, BenchDatabase database) {
        this.recoverable = recoverable;
        this.database = database;
    }

    /** Arguments: the database (see {@link Jvm}), the class of the workflows. */
    public static void main(String... args) throws Exception {
        Recoverable recoverable = Class.forName(args[2])
                .asSubclass(Recoverable.class)
                .getDeclaredConstructor()
                .newInstance();
        RecoverableMain main = new RecoverableMain(recoverable, Jvm.database(args));
        ChildProcess.answer(command -> main.obey(command.split(" ")));
    }

    private String obey(String... words) throws Exception {
        int count = Integer.parseInt(words[1]);
        return switch (words[0]) {
            case "begin" -> begin(count);
            case "recover" -> recover(count);
            default -> throw new IllegalArgumentException(words[0]);
        };
    }

    /** Starts the workflows, and answers when all are in their sixth step, where they stay. */
    private String begin(int count) throws Exception {
        Timestamps sixth = new Timestamps(count);
        CountDownLatch never = new CountDownLatch(1);
        recoverable.open(database, andThenWait(sixth, never)).start(count);
        sixth.await();
        return "begun";
    }

    private static IntConsumer andThenWait(Timestamps sixth, CountDownLatch never) {
        return number -> {
            sixth.note(number);
            try {
                never.await();
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            }
        };
    }

    /** CommandHandler with the time of the set-up, and then the times when each workflow began its sixth step again. */
    private String recover(int count) throws Exception {
        Timestamps sixth = new Timestamps(count);
        long opened = Timestamps.now();
        recoverable.open(database, sixth::note);
        sixth.await();
        return opened + " " + sixth.line();
    }
}
