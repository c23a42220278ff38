package dev.perdure.postgres.write.change;

import dev.perdure.spi.change.Awaited;
import dev.perdure.spi.change.Channel;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What a run waits for, as literals of its columns. */
public final class AwaitedText {
    private AwaitedText() {}

    /** The positions of calls, as a multirange: thousands of calls in a row are one range. Null if there are none. */
    public static @Nullable String positions(Awaited awaited) {
        int[] positions = awaited.channels().stream()
                .filter(channel -> channel.kind() == Channel.Kind.ANSWER)
                .mapToInt(Channel::position)
                .sorted()
                .toArray();
        if (positions.length == 0) {
            return null;
        }
        StringBuilder ranges = new StringBuilder("{");
        for (int first = 0, next; first < positions.length; first = next) {
            next = first + 1;
            while (next < positions.length && positions[next] == positions[next - 1] + 1) {
                next++;
            }
            ranges.append(first == 0 ? "" : ",")
                    .append('[')
                    .append(positions[first])
                    .append(',')
                    .append(positions[next - 1])
                    .append(']');
        }
        return ranges.append('}').toString();
    }

    /** How a limiter is named among what a run waits for. */
    public static final String LIMITER = "l:";

    /** Topics, promises and limiters, as an array. Null if there are none. */
    public static @Nullable String names(Awaited awaited) {
        Stream<String> mail = awaited.channels().stream()
                .filter(channel -> channel.kind() != Channel.Kind.ANSWER)
                .map(channel -> (channel.kind() == Channel.Kind.MESSAGE ? "m:" : "p:") + channel.name());
        String names = Stream.concat(mail, awaited.limiters().stream().map(LIMITER::concat))
                .map(name -> '"' + name.replace("\\", "\\\\").replace("\"", "\\\"") + '"')
                .collect(Collectors.joining(","));
        return names.isEmpty() ? null : "{" + names + "}";
    }
}
