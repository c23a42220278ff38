package dev.perdure.postgres.write.part;

import dev.perdure.RunState;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Part;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.lane.Sending;
import dev.perdure.postgres.write.change.Batch;
import dev.perdure.postgres.write.change.MailDeliveries;
import dev.perdure.postgres.write.change.RunCommands;
import dev.perdure.postgres.write.change.RunCommands.RunCommand;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.WorkerId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.UUID;

/** The parts of a batch that carry out commands. */
public final class CommandParts {
    private final CommandSql sql;
    private final Sending sending;
    private final Batch batch;
    private final Answers answers;

    public CommandParts(CommandSql sql, Sending sending, Batch batch, Answers answers) {
        this.sql = sql;
        this.sending = sending;
        this.batch = batch;
        this.answers = answers;
    }

    /** The commands of callers. */
    public Part commands() {
        return command(batch.commands);
    }

    /** The commands of transitions to other runs. */
    public Part cancels() {
        return command(batch.cancels);
    }

    private Part command(RunCommands commands) {
        return new Part(
                sql.command,
                parameters -> {
                    commands.bind(parameters.time(sending.time()));
                    sending.laneOfWorker(parameters).integer(sending.worker());
                },
                results -> readCommands(commands, results.next()));
    }

    private void readCommands(RunCommands commands, ResultSet rows) throws SQLException {
        if (answers.fenced) {
            commands.all.forEach(command -> answers.fence(command.index()));
            return;
        }
        while (rows.next()) {
            RunCommand command = commands.all.get(rows.getInt("ordinal") - 1);
            RunState state = Codes.state(rows.getInt("state_now"));
            if (command.index() != MailDeliveries.UNASKED) {
                answers.outcomes[command.index()] = new Outcome.Commanded(
                        Results.time(rows, "moved_at"), state, rows.getBoolean("changed"), rows.getBoolean("accepted"));
            } else if (state == RunState.READY) {
                answers.hints.add(new Hints.WorkReady());
            } else if (state.isTerminal()) {
                answers.hints.add(new Hints.RunEnded(command.run()));
            }
            signal(rows);
        }
    }

    /** Tells the tasks of runs that callers have killed or cancelled. */
    public Part tasksOfCommanded() {
        return tasks(batch.commands);
    }

    /** Tells the tasks of runs that transitions have cancelled. */
    public Part tasksOfCancelled() {
        return tasks(batch.cancels);
    }

    private Part tasks(RunCommands commands) {
        return new Part(
                sql.tasks,
                parameters -> {
                    commands.bindPassedOn(parameters.time(sending.time()));
                    sending.laneOfWorker(parameters);
                },
                results -> readTasks(results.next()));
    }

    /** Callers that wait for one of these runs by its id ask again sooner or later; its worker has to know now. */
    private void readTasks(ResultSet rows) throws SQLException {
        while (rows.next()) {
            if (Codes.state(rows.getInt("state_now")) == RunState.READY) {
                answers.hints.add(new Hints.WorkReady());
            }
            signal(rows);
        }
    }

    private void signal(ResultSet row) throws SQLException {
        UUID worker = row.getObject("signalled", UUID.class);
        if (worker != null) {
            answers.hints.add(new Hints.WorkerSignalled(new WorkerId(worker)));
        }
    }
}
