package dev.perdure.http.internal.admin;

import static dev.perdure.http.internal.route.Body.Property.optional;

import dev.perdure.http.internal.json.Shape;
import dev.perdure.http.internal.route.Answers;
import dev.perdure.http.internal.route.Body.ValueType;
import dev.perdure.http.internal.route.Call;
import dev.perdure.http.internal.route.Route;
import dev.perdure.http.internal.show.Services;
import dev.perdure.version.VersionInfo;
import dev.perdure.version.Versions;
import dev.perdure.version.WorkerInfo;
import dev.perdure.version.WorkerInfo.Heap;
import java.util.List;
import java.util.function.BiConsumer;

/** Workers and their versions. */
public final class VersionRoutes {
    private static final String VERSION = "version";
    private static final String DEFINITION = "definition";

    private static final Shape<VersionInfo.Definition> IN_VERSION = Shape.<VersionInfo.Definition>named(
                    "DefinitionInVersion")
            .text("name", "Its name.", VersionInfo.Definition::name)
            .number("runs", "How many live runs of it are pinned to the version.", VersionInfo.Definition::runs)
            .number("workers", "How many live workers of the version have it.", VersionInfo.Definition::workers)
            .flag(
                    "draining",
                    "Whether the version is told to take no more runs of it.",
                    VersionInfo.Definition::draining)
            .flag(
                    "drained",
                    "Whether it is told so, its workers take no more, and no live run of it is pinned to the version.",
                    VersionInfo.Definition::drained);

    private static final Shape<VersionInfo> SHAPE = Shape.<VersionInfo>named("Version")
            .text("name", "The version.", VersionInfo::name)
            .text("state", "Whether it takes runs, and whether it may be switched off.", VersionInfo::state)
            .number("workers", "How many live workers have it.", VersionInfo::workers)
            .number("runs", "How many live runs are pinned to it.", VersionInfo::runs)
            .list(
                    "definitions",
                    "What its workers have registered and its runs run.",
                    IN_VERSION,
                    VersionInfo::definitions);

    private static final Shape<List<VersionInfo>> VERSIONS =
            Shape.<List<VersionInfo>>named("Versions").list("versions", "By name.", SHAPE, versions -> versions);

    private static final Shape<WorkerInfo> WORKER = Shape.<WorkerInfo>named("Worker")
            .text("id", "Its id, which is another one each time that its process joins.", WorkerInfo::id)
            .text(VERSION, "The version of its code.", WorkerInfo::version)
            .texts("definitions", "What it has registered.", WorkerInfo::definitions)
            .texts("queues", "The queues from which it takes runs; empty if that is not known.", WorkerInfo::queues)
            .map("labels", "Its labels.", WorkerInfo::labels)
            .time("lease_until", "When its lease ends, unless it renews it.", WorkerInfo::leaseUntil)
            .number("held", "How many runs it holds.", WorkerInfo::held)
            .number(
                    "heap_used",
                    "How many bytes of the heap of its process were in use when it last renewed its lease.",
                    worker -> worker.heap().map(Heap::used))
            .number(
                    "heap_max",
                    "How many bytes that heap may have.",
                    worker -> worker.heap().map(Heap::max))
            .texts(
                    "drains",
                    "The definitions of which it takes no more runs but those pinned to its version.",
                    WorkerInfo::drains)
            .flag("draining", "Whether these are all of its definitions.", WorkerInfo::isDraining);

    private static final Shape<List<WorkerInfo>> WORKERS =
            Shape.<List<WorkerInfo>>named("Workers").list("workers", "By id.", WORKER, workers -> workers);

    private final Services services;

    /** With these services. */
    public VersionRoutes(Services services) {
        this.services = services;
    }

    /** The routes. */
    public List<Route> routes() {
        return List.of(
                Route.get("/workers", "Lists the live workers.")
                        .answers(200, "The workers.", WORKERS)
                        .does(call -> Answers.ok(
                                WORKERS.json(services.perdure().versions().workers()))),
                Route.get("/versions", "Lists the versions that live workers have, or live runs are pinned to.")
                        .answers(200, "The versions.", VERSIONS)
                        .does(call -> Answers.ok(
                                VERSIONS.json(services.perdure().versions().list()))),
                Route.get("/versions/{version}", "Shows a version.")
                        .answers(200, "The version.", SHAPE)
                        .does(call -> Answers.ok(
                                SHAPE.json(services.perdure().versions().get(call.path(VERSION))))),
                change(
                        "drain",
                        "Lets the workers of a version take no more runs but those pinned to it.",
                        (versions, call) -> call.text(DEFINITION)
                                .ifPresentOrElse(
                                        definition -> versions.drain(call.path(VERSION), definition),
                                        () -> versions.drain(call.path(VERSION)))),
                change(
                        "resume",
                        "Lets the workers of a version take runs again.",
                        (versions, call) -> call.text(DEFINITION)
                                .ifPresentOrElse(
                                        definition -> versions.resume(call.path(VERSION), definition),
                                        () -> versions.resume(call.path(VERSION)))));
    }

    private Route change(String name, String about, BiConsumer<Versions, Call> change) {
        return Route.post("/versions/{version}/" + name, about)
                .body(optional(DEFINITION, ValueType.TEXT, "Only runs of this definition."))
                .answers(204, "The command is durable. Workers notice it within a quarter of their lease.")
                .does(call -> {
                    change.accept(services.perdure().as(call.operator()).versions(), call);
                    return Answers.done();
                });
    }
}
