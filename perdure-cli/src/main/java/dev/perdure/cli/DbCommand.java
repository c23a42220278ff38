package dev.perdure.cli;

import dev.perdure.cli.output.Bytes;
import dev.perdure.cli.output.Fields;
import dev.perdure.cli.output.LiveOutput;
import dev.perdure.cli.output.Page;
import dev.perdure.status.Finding;
import dev.perdure.status.StoreStatus;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Shows how the database is. */
@Command(
        name = "db",
        mixinStandardHelpOptions = true,
        description = "Show how the database is, what is wrong with it and what to do.",
        synopsisSubcommandLabel = "COMMAND")
final class DbCommand {
    private static final Fields<StoreStatus> SUMMARY = Fields.<StoreStatus>of()
            .and("at", StoreStatus::at)
            .and("workers", StoreStatus::workers)
            .and(
                    "bytes",
                    status -> new Bytes(status.tables().stream()
                            .mapToLong(table -> table.bytes() + table.indexBytes())
                            .sum()))
            .text("oldest_transaction", status -> status.oldestTransaction().map(StoreStatus.Transaction::since))
            .text("of", status -> status.oldestTransaction().map(open -> open.session() + ", " + open.state()))
            .json("oldest_transaction_at", status -> status.oldestTransaction().map(StoreStatus.Transaction::since))
            .json("oldest_transaction_of", status -> status.oldestTransaction().map(StoreStatus.Transaction::session))
            .text("due_for_removal", DbCommand::due)
            .json("due_for_removal", status -> status.removal().due())
            .json("more_due", status -> status.removal().more())
            .json("first_due", status -> status.removal().first())
            .json("next_pass", status -> status.removal().nextPass())
            .text(
                    "next_pass",
                    status -> status.removal().nextPass().isPresent()
                            ? status.removal().nextPass()
                            : "now");

    private static final Fields<Finding> FINDING = Fields.<Finding>of()
            .json("kind", Finding::kind)
            .json("what", Finding::what)
            .json("remedy", Finding::remedy);

    private static final Fields<StoreStatus.InState> RUNS = Fields.<StoreStatus.InState>of()
            .and("state", StoreStatus.InState::state)
            .and("count", StoreStatus.InState::count)
            .and("oldest", StoreStatus.InState::oldest)
            .text("created", StoreStatus.InState::oldestCreatedAt)
            .json("created_at", StoreStatus.InState::oldestCreatedAt);

    private static final Fields<StoreStatus.Table> TABLE = Fields.<StoreStatus.Table>of()
            .text("table", StoreStatus.Table::name)
            .json("name", StoreStatus.Table::name)
            .and("rows", StoreStatus.Table::rows)
            .and("dead_rows", StoreStatus.Table::deadRows)
            .and("bytes", table -> new Bytes(table.bytes()))
            .and("index_bytes", table -> new Bytes(table.indexBytes()))
            .and("free_bytes", table -> table.freeBytes().map(Bytes::new))
            .text("vacuumed", StoreStatus.Table::vacuumedAt)
            .json("vacuumed_at", StoreStatus.Table::vacuumedAt);

    DbCommand() {}

    @Command(
            name = "status",
            mixinStandardHelpOptions = true,
            description = "Show sizes, dead rows, free space, what waits, what retention removes next, what is wrong.",
            exitCodeListHeading = "%nExit codes:%n",
            exitCodeList = {"0:Nothing is wrong.", "1:Something is wrong: the findings say what, and what to do."})
    int status(@Mixin DatabaseOptions database, @Mixin LiveOutput output) {
        return database.with(open -> {
            AtomicBoolean wrong = new AtomicBoolean();
            output.print(() -> {
                StoreStatus status = open.perdure().status();
                wrong.set(!status.findings().isEmpty());
                return page(open.page(), status);
            });
            return wrong.get() ? Main.FAILED : 0;
        });
    }

    private static Page page(Page page, StoreStatus status) {
        return page.one("status", SUMMARY, status)
                .lines("findings", findings(status.findings()))
                .array("findings", FINDING, status.findings())
                .many("runs", RUNS, status.runs(), "No run waits or is at work.")
                .many("tables", TABLE, status.tables(), "No tables.");
    }

    private static List<String> findings(List<Finding> findings) {
        return findings.isEmpty()
                ? List.of("Nothing is wrong.")
                : findings.stream()
                        .flatMap(finding ->
                                Stream.of(finding.kind() + ": " + finding.what(), "    To do: " + finding.remedy()))
                        .toList();
    }

    private static String due(StoreStatus status) {
        StoreStatus.Removal removal = status.removal();
        return "%s%s%s"
                .formatted(
                        removal.more() ? "more than " : "",
                        removal.due(),
                        removal.first().map(id -> ", first " + id).orElse(""));
    }
}
