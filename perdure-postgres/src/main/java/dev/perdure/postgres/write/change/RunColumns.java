package dev.perdure.postgres.write.change;

import dev.perdure.postgres.jdbc.Columns;
import dev.perdure.postgres.jdbc.Descriptions;
import dev.perdure.postgres.jdbc.Micros;
import dev.perdure.spi.change.NewRun;

/** The columns of runs to be started, declared once for all statements that start runs. */
public final class RunColumns {
    private static final Columns<NewRun> ALWAYS = Columns.<NewRun>of()
            .text("id", run -> run.id().value())
            .text("definition", NewRun::definition)
            .bigint("seed", NewRun::seed)
            .text("queue", NewRun::queue)
            .integer("priority", NewRun::priority);

    /** Null for most runs. */
    private static final Columns<NewRun> SELDOM = Columns.<NewRun>of()
            .text("version", NewRun::version)
            .text("placement", run -> run.placement().text())
            .text("queue_key", NewRun::queueKey)
            .integerOrNull(
                    "weight",
                    run -> run.admission().weight() == 1
                            ? null
                            : Integer.valueOf(run.admission().weight()))
            .jsonb("attributes", run -> Descriptions.json(run.description().attributes()))
            .text("memo", run -> run.description().memo().orElse(null))
            .text("status", run -> run.description().status().orElse(null))
            .text("headers", run -> Descriptions.lines(run.description().headers()));

    /**
     * The columns that the table {@code run} keeps unchanged, under the same names. Statements use them as
     * {@code ${run_columns}}.
     */
    public static final Columns<NewRun> KEPT = ALWAYS.with(SELDOM);

    /** These columns and the timeout. */
    public static final Columns<NewRun> TIMED = timed(KEPT);

    /** The same for {@linkplain #isPlain plain} runs. */
    public static final Columns<NewRun> PLAIN_TIMED = timed(ALWAYS.with(SELDOM.empty()));

    /** All columns of a run that is ready at once. */
    public static final Columns<NewRun> WITH_INPUT = withInput(TIMED);

    /** The same for {@linkplain #isPlain plain} runs. */
    public static final Columns<NewRun> PLAIN_WITH_INPUT = withInput(PLAIN_TIMED);

    private RunColumns() {}

    private static Columns<NewRun> timed(Columns<NewRun> kept) {
        return kept.bigintOrNull("timeout", run -> Micros.ofNullable(run.timeout()));
    }

    private static Columns<NewRun> withInput(Columns<NewRun> timed) {
        return timed.bytes("input", run -> run.input().bytes());
    }

    /** Whether a run has nothing that few runs have, such as a version, labels or attributes. */
    public static boolean isPlain(NewRun run) {
        return SELDOM.isEmpty(run);
    }
}
