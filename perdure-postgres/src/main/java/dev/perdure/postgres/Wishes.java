package dev.perdure.postgres;

import dev.perdure.RunId;
import dev.perdure.spi.Change;
import dev.perdure.spi.Change.Order;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a batch wants of runs that it does not hold. */
final class Wishes {
    /**
     * Something wanted of a run.
     *
     * @param index the place of its change in the batch, or {@link Letters#UNASKED}
     * @param run of which run
     * @param order what
     * @param reason why
     * @param sender the transition that wants it, or null
     */
    record Wish(int index, RunId run, Order order, String reason, Change.@Nullable Advance sender) {}

    static final Columns<Wish> COLUMNS = Columns.<Wish>of()
            .text("id", wish -> wish.run().value())
            .smallint("wish", wish -> Codes.of(wish.order()))
            .text("why", wish -> Text.storable(wish.reason()))
            .with(Rights.columns("sender", "epoch", Wish::sender));

    static final Columns<Wish> KILLS =
            Columns.<Wish>of().text("id", wish -> wish.run().value()).text("why", wish -> Text.storable(wish.reason()));

    final List<Wish> all = new ArrayList<>();

    void asked(int index, Change.Command command) {
        all.add(new Wish(index, command.run(), command.order(), command.reason(), null));
    }

    void cancel(Change.Advance sender, RunId run, String reason) {
        all.add(new Wish(Letters.UNASKED, run, Order.CANCEL, reason, sender));
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    List<String> ids() {
        return all.stream().map(wish -> wish.run().value()).toList();
    }

    /** Those that may end by it. */
    List<String> endingIds() {
        return all.stream()
                .filter(wish ->
                        wish.order() == Order.CANCEL || wish.order() == Order.KILL || wish.order() == Order.REFUSE)
                .map(wish -> wish.run().value())
                .toList();
    }

    /** Those that are killed, and their tasks with them. */
    List<Wish> kills() {
        return all.stream().filter(wish -> wish.order() == Order.KILL).toList();
    }

    List<String> killedIds() {
        return kills().stream().map(wish -> wish.run().value()).toList();
    }

    void bindKills(Parameters parameters) throws SQLException {
        KILLS.bind(parameters, kills());
    }

    void bind(Parameters parameters) throws SQLException {
        COLUMNS.bind(parameters, all);
    }
}
