package dev.perdure.postgres.write.change;

import dev.perdure.RunId;
import dev.perdure.postgres.jdbc.AuditText;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Columns;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Text;
import dev.perdure.spi.Audit;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Change.CommandKind;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The commands of a batch to runs that its worker does not hold. */
public final class RunCommands {
    /**
     * A command to a run.
     *
     * @param index the index of its change in the batch, or {@link MailDeliveries#UNASKED}
     * @param run the run
     * @param kind the kind of command
     * @param reason the reason
     * @param audit its audit entry, or null
     * @param seen the run as the sender saw it, or null
     * @param sender the transition that sends it, or null
     */
    public record RunCommand(
            int index,
            RunId run,
            CommandKind kind,
            String reason,
            @Nullable Audit audit,
            Change.@Nullable Seen seen,
            Change.@Nullable Advance sender) {
        private @Nullable String created() {
            return seen == null ? null : seen.createdAt().toString();
        }

        private @Nullable String entered() {
            return seen != null && kind.isForSeenState() ? seen.changedAt().toString() : null;
        }
    }

    public static final Columns<RunCommand> COLUMNS = Columns.<RunCommand>of()
            .text("id", command -> command.run().value())
            .smallint("command", command -> Codes.of(command.kind()))
            .text("why", command -> Text.storable(command.reason()))
            .text("audit", command -> AuditText.of(command.audit()))
            .text("created", RunCommand::created)
            .text("entered", RunCommand::entered)
            .with(Rights.columns("sender", "epoch", RunCommand::sender));

    /** What the tasks of a run are told when the run is. */
    public static final Columns<RunCommand> PASSED_ON = Columns.<RunCommand>of()
            .text("id", command -> command.run().value())
            .smallint(
                    "command",
                    command -> Codes.of(command.kind() == CommandKind.EXPIRE ? CommandKind.KILL : command.kind()))
            .text("why", command -> Text.storable(Change.Command.ofTask(command.kind(), command.reason())))
            .text("created", RunCommand::created)
            .bool("expires", command -> command.kind() == CommandKind.EXPIRE);

    public final List<RunCommand> all = new ArrayList<>();

    void asked(int index, Change.Command command) {
        all.add(new RunCommand(
                index, command.run(), command.kind(), command.reason(), command.audit(), command.seen(), null));
    }

    void cancel(Change.Advance sender, RunId run, String reason) {
        all.add(new RunCommand(MailDeliveries.UNASKED, run, CommandKind.CANCEL, reason, null, null, sender));
    }

    public boolean isEmpty() {
        return all.isEmpty();
    }

    List<String> ids() {
        return all.stream().map(command -> command.run().value()).toList();
    }

    /** The runs that may end by a command. */
    List<String> endingIds() {
        return all.stream()
                .filter(command -> command.kind() == CommandKind.CANCEL
                        || command.kind() == CommandKind.KILL
                        || command.kind() == CommandKind.REFUSE
                        || command.kind() == CommandKind.EXPIRE)
                .map(command -> command.run().value())
                .toList();
    }

    /** The commands that the tasks of their runs get too. */
    public List<RunCommand> passedOn() {
        return all.stream().filter(command -> command.kind().isForTasks()).toList();
    }

    /** The runs with tasks that they may be for. */
    public List<String> passedOnIds() {
        return passedOn().stream().map(command -> command.run().value()).toList();
    }

    public void bindPassedOn(Parameters parameters) throws SQLException {
        PASSED_ON.bind(parameters, passedOn());
    }

    public void bind(Parameters parameters) throws SQLException {
        COLUMNS.bind(parameters, all);
    }
}
