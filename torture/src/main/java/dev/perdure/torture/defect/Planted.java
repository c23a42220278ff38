package dev.perdure.torture.defect;

import dev.perdure.simulation.store.Defects;
import dev.perdure.spi.Store;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** The defects that can exist in front of PostgreSQL. Those of the simulation that are missing here cannot. */
public enum Planted {
    /** A worker takes a refused append for done, and goes on with a run that it has lost. */
    SKIPPED_CHECK(Defects.A_FAST_PLAN_THAT_SKIPS_A_CHECK),
    /** A run goes to sleep although mail has arrived that it has not seen. */
    LOST_WAKE_UP(Defects.LOST_WAKE_UP),
    /** A mail stays in the mailbox when it is taken. */
    ANSWER_TAKEN_TWICE(Defects.ANSWER_TAKEN_TWICE),
    /** A start under a taken id with another input is taken for the same. */
    CONFLICT_IGNORED(Defects.CONFLICT_IGNORED),
    /** A call gets its object although another call holds it. */
    KEY_HANDED_TO_TWO(Defects.KEY_HANDED_TO_TWO),
    /** A call begins with the state that an earlier call began with. */
    STALE_STATE(Defects.STATE_SHARED_BETWEEN_TWO_CALLS),
    /** Each process counts the places of a queue by itself, so that there are twice as many. */
    LIMIT_WITHOUT_ROW(LimitWithoutRow::new),
    /** Retention removes runs some seconds after their end, whatever was declared. */
    EAGER_RETENTION(EagerRetention::new),
    /** A worker looks for runs only after a hint. */
    HINT_AS_TRUTH(Defects.HINT_AS_TRUTH);

    private final UnaryOperator<Store> plant;

    Planted(Defects defect) {
        this(store -> defect.seen(defect.in(store)));
    }

    Planted(UnaryOperator<Store> plant) {
        this.plant = plant;
    }

    /** Its name on the command line. */
    public String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The store with this defect. */
    public Store in(Store store) {
        return plant.apply(store);
    }

    /** The defect of this name. */
    public static Optional<Planted> named(String word) {
        return Arrays.stream(values()).filter(each -> each.word().equals(word)).findFirst();
    }

    /** All names. */
    public static List<String> words() {
        return Arrays.stream(values()).map(Planted::word).toList();
    }
}
