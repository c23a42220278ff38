package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.after;

import dev.perdure.Awakeable;
import dev.perdure.RunId;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.error.RunFailedException;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.ObjectHandle;
import dev.perdure.object.SharedObjectContext;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import dev.perdure.testing.PerdureTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.concurrent.atomic.AtomicInteger;

/** A virtual object that keeps a list and has the handlers that the scenarios need. */
@VirtualObject("list")
final class Log {
    static final StateKey<List<String>> LINES = StateKey.of("lines", new TypeRef<>() {});
    static final StateKey<String> NOTE = StateKey.of("note", String.class);
    static final Topic<String> GO = Topic.of("go", String.class);

    final AtomicInteger inside = new AtomicInteger();
    final AtomicInteger most = new AtomicInteger();
    final AtomicInteger entered = new AtomicInteger();

    @Handler
    public int append(ObjectContext ctx, String line) {
        entered.incrementAndGet();
        return add(ctx, line);
    }

    @Handler
    public boolean answer(SharedObjectContext ctx, String token) {
        boolean first = ctx.resolve(token, "by " + ctx.key());
        return first && !ctx.reject(token, "too late");
    }

    @Handler
    public String waitForAnswer(ObjectContext ctx) {
        Awakeable<String> awakeable = ctx.awakeable(String.class);
        ctx.set(NOTE, awakeable.token());
        return awakeable.await();
    }

    @Handler
    public void write(ObjectContext ctx, String note) {
        ctx.set(NOTE, note);
    }

    private static int add(ObjectContext ctx, String line) {
        List<String> lines = new ArrayList<>(ctx.get(LINES).orElse(List.of()));
        lines.add(line);
        ctx.set(LINES, lines);
        return lines.size();
    }

    @Handler
    public int appendInSteps(ObjectContext ctx, String line) {
        int before = add(ctx, line + " begun");
        ctx.step("overlap", () -> most.accumulateAndGet(inside.incrementAndGet(), Math::max));
        ctx.sleep(Duration.ofSeconds(5));
        ctx.step("leave", inside::decrementAndGet);
        int after = add(ctx, line + " done");
        return after - before;
    }

    @Handler
    public String sleepy(ObjectContext ctx) {
        ctx.set(NOTE, "asleep");
        ctx.sleep(Duration.ofDays(1));
        ctx.set(NOTE, "awake");
        return ctx.get(NOTE).orElseThrow();
    }

    @Handler
    public void failing(ObjectContext ctx, String note) {
        ctx.set(NOTE, note);
        throw new IllegalStateException("broken after " + note);
    }

    @Handler
    public void forget(ObjectContext ctx) {
        ctx.clear(NOTE);
    }

    @Handler
    public SortedSet<String> forgetAll(ObjectContext ctx) {
        SortedSet<String> before = ctx.keys();
        ctx.clearAll();
        ctx.set(NOTE, "after " + before + " came " + ctx.keys());
        return before;
    }

    @Handler
    public List<String> lines(SharedObjectContext ctx) {
        return ctx.get(LINES).orElse(List.of());
    }

    @Handler
    public Optional<String> note(SharedObjectContext ctx) {
        return ctx.get(NOTE);
    }

    @Handler
    public String waitForGo(ObjectContext ctx) {
        ctx.set(NOTE, "waiting");
        return ctx.promise(GO).await();
    }

    @Handler
    public void goExclusively(ObjectContext ctx, String run) {
        ctx.promise(RunId.of(run), GO).resolve("exclusive");
    }

    @Handler
    public void go(SharedObjectContext ctx, String run) {
        ctx.promise(RunId.of(run), GO).resolve("shared by " + ctx.get(NOTE).orElse("nobody"));
    }

    @Handler
    public String callOther(ObjectContext ctx, String other) {
        add(ctx, "calls " + other);
        int size = ctx.object(Log.class, other).call(Log::append, "from " + ctx.key());
        return "%s has %d".formatted(other, size);
    }

    @Handler
    public String viaOther(ObjectContext ctx, List<String> way) {
        if (way.isEmpty()) {
            return "end at " + ctx.key();
        }
        List<String> rest = way.subList(1, way.size());
        try {
            return ctx.object(Log.class, way.getFirst()).call(Log::viaOther, List.copyOf(rest));
        } catch (RunFailedException refused) {
            return refused.getMessage();
        }
    }

    @Handler
    public void remind(ObjectContext ctx, Duration delay) {
        ctx.object(Log.class, ctx.key()).send(Log::append, "later", after(delay));
        ctx.object(Log.class, ctx.key()).send(Log::append, "now");
        add(ctx, "first");
    }

    /** A handle to one log. */
    static ObjectHandle<Log> log(PerdureTest perdure, String key) {
        return perdure.object(Log.class, key);
    }

    static List<String> linesOf(PerdureTest perdure, String key) {
        return log(perdure, key).state().get(Log.LINES).orElse(List.of());
    }
}
