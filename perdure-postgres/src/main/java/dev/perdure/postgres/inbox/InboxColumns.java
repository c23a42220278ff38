package dev.perdure.postgres.inbox;

import dev.perdure.Definition;
import dev.perdure.RunId;
import dev.perdure.StartKey;
import dev.perdure.StartOptions;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Columns;
import dev.perdure.postgres.jdbc.Descriptions;
import dev.perdure.postgres.jdbc.Micros;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.Text;
import dev.perdure.queue.Placement;
import dev.perdure.spi.Audit;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.Payload;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The columns of the inbox: how a change is written there and read back. */
public final class InboxColumns {
    /**
     * A row of the inbox.
     *
     * @param command the kind of request, as a code
     * @param id the run
     * @param run the run to start, if it is a start
     * @param tasks how many tasks start with that run
     * @param reason the reason of a command, or the text of a mail
     * @param mail the mail, if it is one
     * @param life the life of the run that the mail is for, or 0
     */
    private record Row(
            short command,
            RunId id,
            @Nullable NewRun run,
            int tasks,
            @Nullable String reason,
            @Nullable Mail mail,
            int life) {
        static Row of(Change change) {
            return switch (change) {
                case Change.Start(NewRun run, var owner, var mails, var tasks) ->
                    new Row(Codes.START, run.id(), run, tasks.size(), null, null, 0);
                case Change.Command command ->
                    new Row(Codes.of(command.kind()), command.run(), null, 0, Text.storable(command.reason()), null, 0);
                case Change.Deliver(RunId to, Mail mail, int life, Audit audit) -> {
                    if (audit != null) {
                        throw new IllegalArgumentException(
                                "An operator's command takes effect at once, so it cannot go through the inbox: "
                                        + audit);
                    }
                    yield new Row(Codes.DELIVER, to, null, 0, Text.storable(mail.text()), mail, Math.max(life, 0));
                }
                case Change.Rerun rerun ->
                    throw new IllegalArgumentException(
                            "A rerun takes effect at once, so it cannot go through the inbox: " + rerun);
                case Change.Retry retry ->
                    throw new IllegalArgumentException(
                            "A retry takes effect at once, so it cannot go through the inbox: " + retry);
                case Change.Retell retell ->
                    throw new IllegalArgumentException(
                            "An outcome is asked for by another shard, so that does not go through the inbox: "
                                    + retell);
                case Change.Reassign reassign ->
                    throw new IllegalArgumentException(
                            "A move takes effect at once, so it cannot go through the inbox: " + reassign);
                case Change.Repair repair ->
                    throw new IllegalArgumentException(
                            "A repair takes effect at once, so it cannot go through the inbox: " + repair);
                case Change.Fork fork ->
                    throw new IllegalArgumentException(
                            "A fork takes effect at once, so it cannot go through the inbox: " + fork);
                case Change.Advance advance ->
                    throw new IllegalArgumentException("Only the worker of a run advances it: " + advance);
                case Change.CompletedCall completed ->
                    throw new IllegalArgumentException("Only a worker completes a call: " + completed);
            };
        }

        Payload input() {
            if (run != null) {
                return run.input();
            }
            return mail == null ? Payload.EMPTY : mail.payload();
        }

        Map<String, String> headers() {
            if (run != null) {
                return run.description().headers();
            }
            return mail == null ? Map.of() : mail.headers();
        }
    }

    private static final Columns<Row> COLUMNS = Columns.<Row>of()
            .smallint("wish", Row::command)
            .text("id", row -> row.id().value())
            .bytes("input", row -> row.input().bytes())
            .text("reason", Row::reason)
            // A start.
            .bigint("seed", row -> row.run() == null ? 0 : row.run().seed())
            .bigintOrNull("timeout", ofRun(run -> Micros.ofNullable(run.timeout())))
            .bigintOrNull("delay", ofRun(run -> Micros.ofNullable(run.delay())))
            .bigintOrNull(
                    "start_within",
                    ofRun(run -> Micros.ofNullable(run.admission().startWithin())))
            .text("start_key", ofKey(StartKey::key))
            .text("start_rule", ofKey(StartRules::rule))
            .bigintOrNull("key_time", ofKey(key -> Micros.ofNullable(StartRules.time(key))))
            .bigintOrNull("key_longest", ofKey(key -> Micros.ofNullable(StartRules.longest(key))))
            .integer("priority", row -> row.run() == null ? 0 : row.run().priority())
            .integer("tasks", Row::tasks)
            .text("definition", ofRun(NewRun::definition))
            .text("queue", ofRun(NewRun::queue))
            .text("version", ofRun(NewRun::version))
            .text("placement", ofRun(run -> run.placement().text()))
            .text("queue_key", ofRun(NewRun::queueKey))
            .integerOrNull("weight", ofRun(run -> run.admission().weight()))
            .jsonb(
                    "attributes",
                    ofRun(run -> Descriptions.json(run.description().attributes())))
            .text("memo", ofRun(run -> run.description().memo().orElse(null)))
            .text("headers", row -> Descriptions.lines(row.headers()))
            .integerOrNull(
                    "hold",
                    ofRun(run -> run.object() == null
                            ? null
                            : (int) Codes.of(run.object().hold())))
            .text(
                    "object_type",
                    ofRun(run ->
                            run.object() == null ? null : run.object().object().type()))
            .text(
                    "object_key",
                    ofRun(run ->
                            run.object() == null ? null : run.object().object().key()))
            // A mail.
            .uuid("token", ofMail(Mail::token))
            .integer(
                    "position",
                    row -> row.mail() == null ? 0 : row.mail().channel().position())
            .integer("restarts", Row::life)
            .smallint(
                    "channel",
                    row -> row.mail() == null
                            ? 0
                            : Codes.of(row.mail().channel().kind()))
            .smallint(
                    "status",
                    row -> row.mail() == null ? 0 : Codes.of(row.mail().status()))
            .text("name", ofMail(mail -> mail.channel().name()));

    /** The definition of a run whose own is none. */
    private static final String UNNAMED = "unnamed";

    private InboxColumns() {}

    private static <T> Function<Row, @Nullable T> ofRun(Function<NewRun, @Nullable T> value) {
        return row -> row.run() == null ? null : value.apply(row.run());
    }

    private static <T> Function<Row, @Nullable T> ofKey(Function<StartKey, @Nullable T> value) {
        return ofRun(run -> {
            StartKey key = run.admission().startKey();
            return key == null ? null : value.apply(key);
        });
    }

    private static <T> Function<Row, @Nullable T> ofMail(Function<Mail, @Nullable T> value) {
        return row -> row.mail() == null ? null : value.apply(row.mail());
    }

    static String names() {
        return COLUMNS.names();
    }

    static String many(String alias) {
        return COLUMNS.many(alias);
    }

    /** Binds these changes to the statement that inserts into the inbox. */
    public static void bind(Parameters parameters, List<Change> changes) throws SQLException {
        COLUMNS.bind(parameters, changes.stream().map(Row::of).toList());
    }

    /** The change that a row requests, without the tasks of a start. */
    static Change read(ResultSet row) throws SQLException {
        RunId id = RunId.of(row.getString("id"));
        int command = row.getInt("wish");
        if (command == Codes.DELIVER) {
            Mail mail = mail(row);
            return mail.channel().kind() == Channel.Kind.ANSWER
                    ? new Change.Deliver(id, mail, row.getInt("restarts"))
                    : new Change.Deliver(id, mail);
        }
        if (command != Codes.START) {
            return new Change.Command(id, Codes.commandKind(command), row.getString("reason"));
        }
        StartOptions options = options(row);
        Definition.checkName(row.getString("definition"));
        StartKey key = StartRules.read(row);
        NewRun run = new NewRun(
                id,
                row.getString("definition"),
                new Payload(row.getBytes("input")),
                row.getLong("seed"),
                options.queue(),
                options.priority(),
                options.version().orElse(null),
                options.timeout().orElse(null),
                options.delay().orElse(null),
                null,
                object(row),
                Descriptions.checked(row),
                options.key().orElse(null),
                new Admission(options.startWithin().orElse(null), options.weight())
                        .withKey(key, true)
                        .at(Placement.of(row.getString("placement"))));
        return new Change.Start(run, null);
    }

    /**
     * The run of a row that {@link #read} refuses: cancelled, with the reason, so that its id leads to an answer.
     *
     * @throws InvalidRequestException if the row starts no run, or its id is none
     */
    static Change refused(ResultSet row, InvalidRequestException why) throws SQLException {
        RunId id = RunId.of(row.getString("id"));
        if (row.getInt("wish") != Codes.START) {
            throw why;
        }
        return refused(
                new NewRun(
                        id,
                        definition(row.getString("definition")),
                        new Payload(row.getBytes("input")),
                        row.getLong("seed"),
                        StartOptions.DEFAULT_QUEUE,
                        0,
                        null,
                        null),
                String.valueOf(why.getMessage()));
    }

    /** The same run, which is not to begin. */
    static Change refused(NewRun run, String why) {
        NewRun bare = new NewRun(
                run.id(), run.definition(), run.input(), run.seed(), StartOptions.DEFAULT_QUEUE, 0, null, null);
        return new Change.Start(
                bare.withAdmission(Admission.refused(Text.storable(Admission.refusedAfterwards(why)))), null);
    }

    private static String definition(String name) {
        try {
            Definition.checkName(name);
            return name;
        } catch (InvalidRequestException none) {
            return UNNAMED;
        }
    }

    /** Checks what plain SQL may have inserted. */
    private static StartOptions options(ResultSet row) throws SQLException {
        StartOptions options = StartOptions.defaults()
                .queue(row.getString("queue"))
                .priority(row.getInt("priority"))
                .weight(weight(row));
        String version = row.getString("version");
        options = version == null ? options : options.version(version);
        Duration timeout = Micros.durationOrNull(row, "timeout");
        options = timeout == null ? options : options.timeout(timeout);
        Duration delay = Micros.durationOrNull(row, "delay");
        options = delay == null ? options : options.delay(delay);
        Duration startWithin = Micros.durationOrNull(row, "start_within");
        options = startWithin == null ? options : options.startWithin(startWithin);
        String key = row.getString("queue_key");
        return key == null ? options : options.key(key);
    }

    /** A row with an unknown hold stays for a worker that knows the hold. */
    private static @Nullable ObjectCall object(ResultSet row) throws SQLException {
        ObjectCall call = Results.object(row);
        if (call != null && call.hold() == ObjectCall.Hold.UNKNOWN) {
            throw new IllegalStateException(
                    "No hold has the code %s: was the row written by a newer version?".formatted(row.getInt("hold")));
        }
        return call;
    }

    private static int weight(ResultSet row) throws SQLException {
        Integer weight = row.getObject("weight", Integer.class);
        return weight == null ? 1 : weight;
    }

    private static Mail mail(ResultSet row) throws SQLException {
        Channel channel =
                new Channel(Codes.channel(row.getInt("channel")), row.getInt("position"), row.getString("name"));
        String text = row.getString("reason");
        return new Mail(
                channel,
                row.getObject("token", UUID.class),
                Codes.status(row.getInt("status")),
                text == null ? "" : text,
                new Payload(row.getBytes("input")),
                Descriptions.headers(row));
    }
}
