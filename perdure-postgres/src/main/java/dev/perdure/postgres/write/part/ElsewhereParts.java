package dev.perdure.postgres.write.part;

import dev.perdure.postgres.jdbc.Part;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.write.change.Batch;

/** The parts of a batch about runs of other shards. */
public final class ElsewhereParts {
    private final ElsewhereSql sql;
    private final Sending sending;
    private final Batch batch;

    public ElsewhereParts(ElsewhereSql sql, Sending sending, Batch batch) {
        this.sql = sql;
        this.sending = sending;
        this.batch = batch;
    }

    public Part send() {
        return new Part(
                sql.send,
                parameters -> {
                    batch.elsewhere.bindSends(parameters);
                    sending.lane(parameters).integer(sending.worker());
                },
                Results::skip);
    }

    public Part link() {
        return new Part(sql.link, batch.elsewhere::bindLinks, Results::skip);
    }

    public Part tell() {
        return tell(sql, sending, batch.ends.answeringKeys(), batch.endingIds());
    }

    /**
     * The same for any runs that end.
     *
     * @param keys the runs that are given by key
     * @param ids the runs that are given by id
     */
    public static Part tell(ElsewhereSql sql, Sending sending, long[] keys, String[] ids) {
        return new Part(
                sql.tell,
                parameters -> sending.laneOfWorker(parameters.longs(keys).texts(ids)),
                Results::skip);
    }
}
