package dev.perdure.torture.work;

import dev.perdure.Definition;
import dev.perdure.RunId;
import dev.perdure.Topic;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Two runs that send a number to and fro. Whatever is lost, doubled or out of order shows in what they received. */
public final class Rally {
    private static final Topic<Integer> BALL = Topic.of("ball", Integer.class);

    private Rally() {}

    /**
     * One side.
     *
     * @param opponent the other
     * @param serves whether it begins
     * @param balls how many go each way
     * @param pauseMillis for how long it waits in memory before all of that
     */
    public record Side(String opponent, boolean serves, int balls, int pauseMillis) {}

    /** What a side received, in order. */
    public record Received(List<Integer> balls) {}

    /** A side, as workers know it. */
    public static Definition<Side, Received> definition() {
        return Definition.of("rally", Side.class, Received.class, (ctx, side) -> {
            RunId opponent = RunId.of(side.opponent());
            List<Integer> received = new ArrayList<>();
            if (side.pauseMillis() > 0) {
                ctx.sleep(Duration.ofMillis(side.pauseMillis()));
            }
            for (int ball = 1; ball <= side.balls(); ball++) {
                if (side.serves()) {
                    ctx.send(opponent, BALL, ball);
                }
                received.add(ctx.receive(BALL).await());
                if (!side.serves()) {
                    ctx.send(opponent, BALL, received.getLast());
                }
            }
            return new Received(received);
        });
    }
}
