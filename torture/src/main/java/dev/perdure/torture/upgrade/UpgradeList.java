package dev.perdure.torture.upgrade;

import dev.perdure.TypeRef;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import java.util.ArrayList;
import java.util.List;

/** A list whose calls wait for each other while one of them holds it. */
@VirtualObject("upgrade-list")
public final class UpgradeList {
    static final StateKey<List<String>> WORDS = StateKey.of("words", new TypeRef<>() {});

    private final Hold hold;

    UpgradeList(Hold hold) {
        this.hold = hold;
    }

    /** Appends a word; gives all. */
    @Handler
    public String append(ObjectContext ctx, String word) {
        List<String> words = new ArrayList<>(ctx.get(WORDS).orElse(List.of()));
        words.add(word);
        ctx.set(WORDS, words);
        return String.join(" ", words);
    }

    /** The same, in the midst of which the process of the older version is killed. */
    @Handler
    public String appendSlowly(ObjectContext ctx, String word) {
        ctx.step("hold", () -> hold.hold(word));
        return append(ctx, word);
    }
}
