package dev.perdure.torture.work;

import dev.perdure.TypeRef;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import java.util.ArrayList;
import java.util.List;

/** Lists that are appended to, and counters. */
@VirtualObject("ledger")
public final class Ledgers {
    /** What was appended. */
    public static final StateKey<List<Integer>> LINES = StateKey.of("lines", new TypeRef<>() {});
    /** How often it was counted. */
    public static final StateKey<Integer> COUNT = StateKey.of("count", Integer.class);

    /** Appends a number; gives the place it got. */
    @Handler
    public int append(ObjectContext ctx, Integer number) {
        List<Integer> lines = new ArrayList<>(ctx.get(LINES).orElse(List.of()));
        lines.add(number);
        ctx.set(LINES, lines);
        return lines.size();
    }

    /** The same, with a step in between, so that it is killed in the middle too. */
    @Handler
    public int appendInTwo(ObjectContext ctx, Integer number) {
        List<Integer> lines = new ArrayList<>(ctx.get(LINES).orElse(List.of()));
        ctx.step("think", () -> {});
        lines.add(number);
        ctx.set(LINES, lines);
        return lines.size();
    }

    /** Counts. */
    @Handler
    public int count(ObjectContext ctx) {
        int count = ctx.get(COUNT).orElse(0) + 1;
        ctx.set(COUNT, count);
        return count;
    }
}
