package dev.perdure.postgres;

import dev.perdure.spi.Due;
import dev.perdure.spi.Move;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** What runs wait for, as the columns of the statements that let them. A row that is not of a wait stays empty. */
final class WaitColumns {
    private final @Nullable Long[] delays;
    private final @Nullable Long[] dues;
    private final @Nullable Integer[] needed;
    private final @Nullable String[] positions;
    private final @Nullable String[] names;

    WaitColumns(int count) {
        this.delays = new Long[count];
        this.dues = new Long[count];
        this.needed = new Integer[count];
        this.positions = new String[count];
        this.names = new String[count];
    }

    void set(int row, Move.Wait wait) {
        needed[row] = wait.awaited().needed();
        positions[row] = AwaitedText.positions(wait.awaited());
        names[row] = AwaitedText.names(wait.awaited());
        switch (wait.due()) {
            case Due.In in -> delays[row] = Micros.of(in.delay());
            case Due.At at -> dues[row] = Micros.of(at.time());
            case Due.Never() -> {}
        }
    }

    Parameters bindDue(Parameters parameters) throws SQLException {
        return parameters.longs(delays).longs(dues);
    }

    Parameters bindAwaited(Parameters parameters) throws SQLException {
        return parameters.ints(needed).texts(positions).texts(names);
    }
}
