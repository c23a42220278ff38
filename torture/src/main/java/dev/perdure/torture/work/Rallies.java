package dev.perdure.torture.work;

import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.torture.work.Rally.Received;
import dev.perdure.torture.work.Rally.Side;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Pairs of runs that send each other messages: each arrives once, in order. In every second pair the first message is
 * sent when the warm window of its receiver ends, some milliseconds earlier or later, so that it arrives while the
 * receiver is about to leave memory.
 */
public final class Rallies implements Workload {
    private static final int BALLS = 10;
    /** The warm window is one second, and a message takes some milliseconds. */
    private static final int SHORTEST_PAUSE_MILLIS = 960;

    private static final int PAUSES = 40;

    @Override
    public String name() {
        return "rallies";
    }

    @Override
    public void register(PerdureBuilder worker, Parts parts) {
        worker.register(Rally.definition());
    }

    @Override
    public void start(Perdure client, Parts parts, int number) {
        String ping = side(number, "ping");
        String pong = side(number, "pong");
        client.start(Invocation.of(Rally.definition(), new Side(ping, false, BALLS, 0)), StartOptions.id(pong));
        client.start(
                Invocation.of(Rally.definition(), new Side(pong, true, BALLS, pause(number))), StartOptions.id(ping));
    }

    private static int pause(int number) {
        return number % 2 == 0 ? 0 : SHORTEST_PAUSE_MILLIS + number / 2 % PAUSES;
    }

    private static String side(int number, String which) {
        return "rallies-%d-%s".formatted(number, which);
    }

    @Override
    public List<String> violations(Seen seen) {
        List<Integer> all = IntStream.rangeClosed(1, BALLS).boxed().toList();
        return seen.numbers()
                .boxed()
                .flatMap(number -> Stream.of(side(number, "ping"), side(number, "pong")))
                .map(id -> seen.client().run(RunId.of(id), TypeRef.of(Received.class)))
                .filter(run -> !run.resultNow().map(Received::balls).equals(Optional.of(all)))
                .map(run -> "Run '%s' received %s.".formatted(run.id(), run.resultNow()))
                .toList();
    }
}
