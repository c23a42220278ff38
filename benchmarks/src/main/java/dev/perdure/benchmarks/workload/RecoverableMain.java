package dev.perdure.benchmarks.workload;

import dev.perdure.benchmarks.measure.Moments;
import dev.perdure.benchmarks.process.Conversation;
import dev.perdure.benchmarks.process.Jvm;
import dev.perdure.benchmarks.server.Site;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntConsumer;

/** The process that is killed, and the one that comes after it. */
public final class RecoverableMain {
    private final Recoverable recoverable;
    private final Site site;

    private RecoverableMain(Recoverable recoverable, Site site) {
        this.recoverable = recoverable;
        this.site = site;
    }

    /** Arguments: the database (see {@link Jvm}), the class of the workflows. */
    public static void main(String... args) throws Exception {
        Recoverable recoverable = Class.forName(args[2])
                .asSubclass(Recoverable.class)
                .getDeclaredConstructor()
                .newInstance();
        RecoverableMain main = new RecoverableMain(recoverable, Jvm.site(args));
        Conversation.answer(command -> main.obey(command.split(" ")));
    }

    private String obey(String... words) throws Exception {
        int count = Integer.parseInt(words[1]);
        return switch (words[0]) {
            case "begin" -> begin(count);
            case "recover" -> recover(count);
            default -> throw new IllegalArgumentException(words[0]);
        };
    }

    /** Answers when all are in their sixth step, and leaves them there. */
    private String begin(int count) throws Exception {
        Moments sixth = new Moments(count);
        CountDownLatch never = new CountDownLatch(1);
        recoverable.open(site, andThenWait(sixth, never)).start(count);
        sixth.await();
        return "begun";
    }

    private static IntConsumer andThenWait(Moments sixth, CountDownLatch never) {
        return number -> {
            sixth.note(number);
            try {
                never.await();
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            }
        };
    }

    /** Answers when it was set up, then when each began its sixth step again. */
    private String recover(int count) throws Exception {
        Moments sixth = new Moments(count);
        long opened = Moments.now();
        recoverable.open(site, sixth::note);
        sixth.await();
        return opened + " " + sixth.line();
    }
}
