package dev.perdure.simulation.scene;

import dev.perdure.Invocation;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.attribute.Attribute;
import dev.perdure.error.RunEndedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Messages from a caller and from another run, in order and once each; a promise at the end. */
public final class Talks implements Scene {
    private static final Topic<String> WORDS = Topic.of("words", String.class);
    private static final Attribute<Number> COUNT = Attribute.number("words");
    private static final Topic<String> SAID = Topic.of("said", String.class);
    private static final Topic<String> LAST = Topic.of("last", String.class);
    private static final int EACH = 3;
    /** Longer than any fault. */
    private static final Duration PATIENCE = Duration.ofHours(1);

    private final Cast cast;
    private final Set<String> refused = new TreeSet<>();

    /** For one history. */
    public Talks(Cast cast) {
        this.cast = cast;
    }

    /** The workflows. */
    public static final class Code {
        Code() {}

        /** Hears all words, then the last one. */
        @Workflow("listener")
        public List<String> listen(WorkflowContext ctx) {
            List<String> heard = new ArrayList<>();
            while (heard.size() < 2 * EACH) {
                heard.add(ctx.receive(WORDS).await());
            }
            heard.add(ctx.promise(LAST).await(PATIENCE).orElse("nothing"));
            return heard;
        }

        /** Says some words to the listener. */
        @Workflow("speaker")
        public void speak(WorkflowContext ctx, String to) {
            for (int i = 0; i < EACH; i++) {
                ctx.send(RunId.of(to), WORDS, "run " + i);
                ctx.publish(SAID, "run " + i);
                ctx.attribute(COUNT, i + 1);
                ctx.status("Has said %s words".formatted(i + 1));
                ctx.sleep(Duration.ofMillis(20));
            }
        }
    }

    @Override
    public void register() {
        cast.register(new Code());
    }

    @Override
    public void play() {
        cast.perdure().start(Invocation.of(Code::listen), StartOptions.id("listener"));
        cast.perdure().start(Code::speak, "listener", StartOptions.id("speaker"));
        for (int i = 0; i < EACH; i++) {
            cast.pauseUpTo(Duration.ofMillis(30));
            String word = "caller " + i;
            try {
                cast.perdure().send(RunId.of("listener"), WORDS, word);
            } catch (RunEndedException ended) {
                refused.add(word);
                return; // an operator was faster
            }
            try {
                if (i == 1) {
                    cast.perdure()
                            .run(RunId.of("listener"), new TypeRef<List<String>>() {})
                            .promise(LAST)
                            .resolve("bye");
                }
            } catch (RunEndedException ended) {
                return; // an operator was faster
            }
        }
    }

    @Override
    public void check() {
        if (cast.completed("speaker")) {
            Optional<String> said = cast.perdure()
                    .run(RunId.of("speaker"), TypeRef.of(Object.class))
                    .published(SAID);
            Cast.must(said.equals(Optional.of("run " + (EACH - 1))), "The speaker has published %s.", said);
        }
        if (!cast.completed("listener")) {
            return;
        }
        List<String> heard = cast.perdure()
                .run(RunId.of("listener"), new TypeRef<List<String>>() {})
                .result();
        Cast.must(
                heard.stream().noneMatch(refused::contains),
                "The listener heard %s, and its sender was told that %s did not reach it.",
                heard,
                refused);
        boolean all = cast.completed("speaker");
        for (String who : List.of("caller ", "run ")) {
            List<String> mine =
                    heard.stream().filter(word -> word.startsWith(who)).toList();
            for (int i = 0; i < mine.size(); i++) {
                Cast.must(mine.get(i).equals(who + i), "The listener heard %s.", heard);
            }
            Cast.must(!all || mine.size() == EACH, "The listener heard only %s.", heard);
        }
        Cast.must(!all || heard.getLast().equals("bye"), "The listener heard %s.", heard);
    }
}
