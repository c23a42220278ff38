package dev.perdure.testing.internal.simulation;

import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Move;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** The kinds of changes, moves and effects, by name. An advance counts as its move. */
public final class Kinds {
    private static final List<String> ALL = Stream.of(Change.class, Move.class, Effect.class)
            .flatMap(type -> Stream.of(type.getPermittedSubclasses())
                    .filter(kind -> kind != Change.Advance.class)
                    .map(kind -> type.getSimpleName() + "." + kind.getSimpleName()))
            .toList();

    private Kinds() {}

    /** All there are, in the order in which they are declared. */
    public static List<String> all() {
        return ALL;
    }

    /** Those in a batch. */
    public static Set<String> of(Collection<Change> changes) {
        Set<String> kinds = new TreeSet<>();
        for (Change change : changes) {
            switch (change) {
                case Change.Advance advance -> {
                    kinds.add("Move." + advance.move().getClass().getSimpleName());
                    add(advance.effects(), kinds);
                }
                case Change.CompletedCall call -> {
                    kinds.add("Change.CompletedCall");
                    add(call.effects(), kinds);
                }
                default -> kinds.add("Change." + change.getClass().getSimpleName());
            }
        }
        return kinds;
    }

    private static void add(List<Effect> effects, Set<String> kinds) {
        effects.forEach(effect -> kinds.add("Effect." + effect.getClass().getSimpleName()));
    }
}
