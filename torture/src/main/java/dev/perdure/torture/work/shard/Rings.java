package dev.perdure.torture.work.shard;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.error.RunFailedException;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.VirtualObject;
import dev.perdure.torture.work.Seen;
import dev.perdure.torture.work.Workload;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs that call virtual objects, each of which calls the next one of a ring, mostly on another shard. Every eighth run goes
 * round its ring and waits for itself; the others wait for each other now and then. A run ends only because a call of each
 * cycle is refused, and a refusal says why.
 */
public final class Rings implements Workload {
    private static final int RINGS = 64;
    private static final int OBJECTS = 3;
    private static final int ROUND_IS_ONE_OF = 8;
    private static final String REFUSED = "Calls wait for each other in a cycle: ";

    /** An object of a ring. */
    @VirtualObject("ring")
    public static final class Ring {
        /** Calls the objects with these keys, each from the one before; gives the last key, or why a call was refused. */
        @Handler
        public String pass(ObjectContext ctx, List<String> others) {
            if (others.isEmpty()) {
                return ctx.key();
            }
            try {
                return ctx.object(Ring.class, others.getFirst()).call(Ring::pass, others.subList(1, others.size()));
            } catch (RunFailedException refused) {
                return String.valueOf(refused.getMessage());
            }
        }
    }

    private static Definition<Integer, String> definition() {
        return Definition.of("ring-run", Integer.class, String.class, (ctx, number) -> {
            List<String> others = new ArrayList<>();
            for (int step = 1; step < OBJECTS + (goesRound(number) ? 1 : 0); step++) {
                others.add(key(number, step));
            }
            return ctx.object(Ring.class, key(number, 0)).call(Ring::pass, others);
        });
    }

    private static boolean goesRound(int number) {
        return number % ROUND_IS_ONE_OF == 0;
    }

    /** Half of the runs go the other way round. */
    private static String key(int number, int step) {
        int ring = number % RINGS;
        int place = Math.floorMod(number / RINGS + (number / 2 % 2 == 0 ? step : -step), OBJECTS);
        return "ring-%d-%d".formatted(ring, place);
    }

    @Override
    public String name() {
        return "rings";
    }

    @Override
    public void register(PerdureBuilder worker, Parts parts) {
        worker.register(definition()).register(new Ring());
    }

    @Override
    public void start(Perdure client, Parts parts, int number) {
        client.start(Invocation.of(definition(), number), StartOptions.id("rings-" + number));
    }

    /** A call that closes a cycle. */
    @Override
    public boolean mayFail(String run) {
        return run.contains("/rings-");
    }

    @Override
    public List<String> violations(Seen seen) {
        List<String> violations = new ArrayList<>();
        seen.numbers().forEach(number -> {
            Run<String> run = seen.client().run(RunId.of("rings-" + number), TypeRef.of(String.class));
            String result = run.resultNow().orElse("nothing");
            boolean arrived = result.equals(key(number, OBJECTS - 1)) && !goesRound(number);
            if (!arrived && !result.contains(REFUSED)) {
                violations.add("Run '%s' has the result %s.".formatted(run.id(), result));
            }
        });
        return violations;
    }
}
