package dev.perdure.spi;

import dev.perdure.RunId;
import dev.perdure.reaction.Occasion;
import dev.perdure.reaction.Reaction;
import dev.perdure.reaction.ReactionInfo;
import dev.perdure.reaction.RunEvent;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Locale;

/**
 * The run that a reaction starts: which id and which input it has. Stores on a database make the same values in SQL.
 *
 * <p>The id is made from the reaction, the run with its key, and which of the changes of that run it is. So a start that
 * is made twice starts one run. A run that gets the id of one that was removed has another key, so it is another occasion.
 */
public final class ReactionStart {
    /** What takes the place of a change in the id of a run that is started because another one is late. */
    public static final String LATE = "late";

    /** From how many bytes on a run has its hash in the id. */
    public static final int LONGEST_ID = 95;

    private ReactionStart() {}

    /** Whether the run is one that the reaction is for. */
    public static boolean concerns(ReactionInfo reaction, RunId run, String definition) {
        boolean named = reaction.definitions().isEmpty()
                ? !definition.startsWith(Runs.OF_THE_ENGINE)
                : reaction.definitions().contains(definition);
        return named && !run.value().startsWith(Reaction.ID_PREFIX);
    }

    /**
     * The id of the run that a reaction starts.
     *
     * @param change how many states the other run has left, or {@link #LATE}
     */
    public static RunId id(String reaction, RunRef run, String change) {
        byte[] whole = run.id().value().getBytes(StandardCharsets.UTF_8);
        String named = whole.length > LONGEST_ID ? hash(whole) : run.id().value();
        return RunId.of(Reaction.ID_PREFIX + reaction + ":" + named + "#" + run.key() + "." + change);
    }

    private static String hash(byte[] text) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("MD5").digest(text));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every JDK has MD5.", e);
        }
    }

    /** The run that starts because of this event of the other run. */
    public static NewRun run(ReactionInfo reaction, RunRef run, RunEvent event, String change) {
        RunId id = id(reaction.name(), run, change);
        Payload input = new Payload(json(event).getBytes(StandardCharsets.UTF_8));
        return new NewRun(
                        id,
                        reaction.starts(),
                        input,
                        id.value().hashCode(),
                        reaction.queue(),
                        0,
                        null,
                        null,
                        null,
                        null)
                .withAdmission(Admission.UNCONDITIONAL.withKey(null, true));
    }

    private static String json(RunEvent event) {
        return "{%s, %s, %s, %s, %s, %s, %s}"
                .formatted(
                        pair("reaction", quoted(event.reaction())),
                        pair("runId", "{" + pair("value", quoted(event.runId().value())) + "}"),
                        pair("definition", quoted(event.definition())),
                        pair("occasion", quoted(event.occasion().name())),
                        pair("at", quoted(event.at().toString())),
                        pair("startedAt", quoted(event.startedAt().toString())),
                        pair("reason", quoted(event.reason())));
    }

    private static String pair(String name, String value) {
        return "\"%s\": %s".formatted(name, value);
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char character = text.charAt(i);
            if (character == '"' || character == '\\') {
                quoted.append('\\').append(character);
            } else if (character < ' ' || Character.isSurrogate(character)) {
                quoted.append(String.format(Locale.ROOT, "\\u%04x", (int) character));
            } else {
                quoted.append(character);
            }
        }
        return quoted.append('"').toString();
    }

    /** The event of a run that has not ended in its time. */
    public static RunEvent late(ReactionInfo reaction, RunId run, String definition, Instant startedAt, String state) {
        return new RunEvent(
                reaction.name(),
                run,
                definition,
                Occasion.LATE,
                startedAt.plus(reaction.late().orElseThrow()),
                startedAt,
                "The run is " + state + ".");
    }
}
