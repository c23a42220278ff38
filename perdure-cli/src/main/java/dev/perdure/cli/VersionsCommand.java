package dev.perdure.cli;

import dev.perdure.cli.output.Bytes;
import dev.perdure.cli.output.Fields;
import dev.perdure.cli.output.LiveOutput;
import dev.perdure.cli.output.Output;
import dev.perdure.cli.output.Page;
import dev.perdure.version.VersionInfo;
import dev.perdure.version.Versions;
import dev.perdure.version.WorkerInfo;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Lists the versions of workers in a database, and drains one. */
@Command(
        name = "versions",
        mixinStandardHelpOptions = true,
        description =
                "List workers and their versions with the runs pinned to them, and drain a version before it is switched off.")
final class VersionsCommand implements Callable<Integer> {
    private static final Duration PERIOD = Duration.ofSeconds(1);

    private static final Fields<VersionInfo> ROW = Fields.<VersionInfo>of()
            .text("version", VersionInfo::name)
            .json("name", VersionInfo::name)
            .and("state", VersionInfo::state)
            .and("workers", VersionInfo::workers)
            .and("runs", VersionInfo::runs)
            .json("lacks_workers", VersionInfo::lacksWorkers)
            .text("meaning", VersionsCommand::meaning);

    private static final Fields<OfVersion> DEFINITION = Fields.<OfVersion>of()
            .and("version", OfVersion::version)
            .and("definition", each -> each.definition().name())
            .and("runs", each -> each.definition().runs())
            .and("workers", each -> each.definition().workers())
            .and("draining", each -> each.definition().draining())
            .and("drained", each -> each.definition().drained());

    private static final Fields<WorkerInfo> WORKER = Fields.<WorkerInfo>of()
            .text("worker", worker -> worker.id().toString())
            .json("id", worker -> worker.id().toString())
            .and("version", WorkerInfo::version)
            .and("held", WorkerInfo::held)
            .and("heap_used", worker -> worker.heap().map(heap -> new Bytes(heap.used())))
            .and("heap_max", worker -> worker.heap().map(heap -> new Bytes(heap.max())))
            .and("lease_until", WorkerInfo::leaseUntil)
            .and("definitions", WorkerInfo::definitions)
            .and("queues", WorkerInfo::queues)
            .json("labels", WorkerInfo::labels)
            .and("drains", WorkerInfo::drains)
            .json("draining", WorkerInfo::isDraining);

    @Mixin
    private DatabaseOptions listed = new DatabaseOptions();

    @Mixin
    private LiveOutput listOutput = new LiveOutput();

    VersionsCommand() {}

    /** A definition with its version. */
    private record OfVersion(String version, VersionInfo.Definition definition) {}

    /** One version of a database. */
    static final class NamedVersion {
        @Mixin
        private DatabaseOptions database = new DatabaseOptions();

        @Parameters(paramLabel = "VERSION", description = "The version.")
        private String name = "";

        @Option(names = "--definition", paramLabel = "NAME", description = "Only for runs of this definition.")
        private @Nullable String definition;
    }

    private static String meaning(VersionInfo version) {
        return switch (version.state()) {
            case ACTIVE -> version.lacksWorkers() ? "takes runs; some of its runs have no worker" : "takes runs";
            case DRAINING ->
                version.lacksWorkers()
                        ? "takes no more runs; some of its runs have no worker"
                        : "takes no more runs, and ends those that it has";
            case DRAINED -> "safe to switch off";
            case NO_WORKER -> "no worker: its runs do not continue";
        };
    }

    @Override
    public Integer call() {
        return list(listed, listOutput);
    }

    @Command(
            name = "list",
            mixinStandardHelpOptions = true,
            description = "List the versions that live workers have or live runs are pinned to, by definition.")
    int list(@Mixin DatabaseOptions database, @Mixin LiveOutput output) {
        return database.with(
                open -> output.print(() -> page(open, open.perdure().versions().list())));
    }

    @Command(
            name = "workers",
            mixinStandardHelpOptions = true,
            description = "List the live workers: what they take, how many runs they hold, and when their leases end.")
    int workers(@Mixin DatabaseOptions database, @Mixin LiveOutput output) {
        return database.with(open -> output.print(() -> open.page()
                .many(
                        "workers",
                        WORKER,
                        open.perdure().versions().workers(),
                        "No live workers. Start a process that registers definitions.")));
    }

    private static Page page(OpenDatabase open, List<VersionInfo> versions) {
        return open.page()
                .many(
                        "versions",
                        ROW,
                        versions,
                        "No versions. Give workers one where the engine is built: Perdure.on(store).version(…).")
                .many(
                        "definitions",
                        DEFINITION,
                        versions.stream()
                                .flatMap(version ->
                                        version.definitions().stream().map(each -> new OfVersion(version.name(), each)))
                                .toList(),
                        "");
    }

    @Command(
            name = "drain",
            mixinStandardHelpOptions = true,
            description = {
                "Let the workers of a version take no more runs but those that are pinned to it, until it is resumed.",
                "When these have ended, it is safe to switch the version off."
            })
    int drain(
            @Mixin NamedVersion version,
            @Mixin Output output,
            @Option(
                            names = "--wait",
                            description =
                                    "Wait until it is safe to switch the version off. Ctrl-C does not stop the drain.")
                    boolean waits) {
        return version.database.with(open -> {
            Versions versions = open.perdure().versions();
            if (version.definition == null) {
                versions.drain(version.name);
            } else {
                versions.drain(version.name, version.definition);
            }
            if (waits) {
                await(versions, version);
            }
            return output.print(changed(
                    open, version, waits ? "has drained%s" : "takes no more runs%s, as soon as its workers notice it"));
        });
    }

    @Command(
            name = "resume",
            mixinStandardHelpOptions = true,
            description = "Let the workers of a version that drains take runs again.")
    int resume(@Mixin NamedVersion version, @Mixin Output output) {
        return version.database.with(open -> {
            Versions versions = open.perdure().versions();
            if (version.definition == null) {
                versions.resume(version.name);
            } else {
                versions.resume(version.name, version.definition);
            }
            return output.print(changed(open, version, "takes runs%s again"));
        });
    }

    private static Page changed(OpenDatabase open, NamedVersion version, String done) {
        String of = version.definition == null ? "" : " of " + version.definition;
        List<VersionInfo> now = open.perdure().versions().list().stream()
                .filter(info -> info.name().equals(version.name))
                .toList();
        return open.page()
                .message("Version %s %s.".formatted(version.name, done.formatted(of)))
                .many("versions", ROW, now, "");
    }

    /** A version that is no longer there has neither workers nor runs. */
    private static void await(Versions versions, NamedVersion wanted) {
        try {
            while (versions.list().stream()
                    .filter(version -> version.name().equals(wanted.name))
                    .anyMatch(version -> !isDrained(version, wanted.definition))) {
                Thread.sleep(PERIOD);
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private static boolean isDrained(VersionInfo version, @Nullable String definition) {
        return definition == null
                ? version.state() == VersionInfo.State.DRAINED
                : version.definitions().stream()
                        .filter(each -> each.name().equals(definition))
                        .allMatch(VersionInfo.Definition::drained);
    }
}
