package dev.perdure.architecture;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Which module knows which, and what holds in every module. */
class ModulesTest {
    private static final int MOST_FILES = 25;

    /** All arrows between modules. An arrow that is not used has no place here. */
    private static final Map<String, Set<String>> KNOWS = Map.ofEntries(
            entry("perdure-core", Set.of()),
            entry("perdure-store-conformance", Set.of("perdure-core")),
            entry("perdure-testing", Set.of("perdure-core")),
            entry("perdure-simulation", Set.of("perdure-core", "perdure-testing")),
            entry("perdure-embedded", Set.of()),
            entry("perdure-postgres", Set.of("perdure-core")),
            entry(
                    "perdure-testing-postgres",
                    Set.of("perdure-core", "perdure-testing", "perdure-embedded", "perdure-postgres")),
            entry("perdure-jooq", Set.of("perdure-core")),
            entry("perdure-shards", Set.of("perdure-core")),
            entry("perdure-jdbi", Set.of("perdure-core")),
            entry("perdure-logback", Set.of("perdure-core")),
            entry("perdure-jackson2", Set.of("perdure-core")),
            entry("perdure-micrometer", Set.of("perdure-core")),
            entry("perdure-opentelemetry", Set.of("perdure-core")),
            entry("perdure-spring", Set.of("perdure-core", "perdure-postgres")),
            entry(
                    "perdure-spring-boot-starter",
                    Set.of(
                            "perdure-core",
                            "perdure-postgres",
                            "perdure-spring",
                            "perdure-http",
                            "perdure-dashboard",
                            "perdure-micrometer",
                            "perdure-opentelemetry")),
            entry(
                    "perdure-spring-boot-starter-test",
                    Set.of(
                            "perdure-core",
                            "perdure-testing",
                            "perdure-embedded",
                            "perdure-postgres",
                            "perdure-spring",
                            "perdure-spring-boot-starter")),
            entry("perdure-http", Set.of("perdure-core")),
            entry("perdure-dashboard", Set.of("perdure-core", "perdure-http")),
            entry(
                    "perdure-cli",
                    Set.of(
                            "perdure-core",
                            "perdure-embedded",
                            "perdure-postgres",
                            "perdure-http",
                            "perdure-dashboard")),
            entry(
                    "torture",
                    Set.of(
                            "perdure-core",
                            "perdure-embedded",
                            "perdure-postgres",
                            "perdure-simulation",
                            "perdure-shards")),
            entry("examples", Set.of("perdure-core", "perdure-postgres", "perdure-http", "perdure-dashboard")),
            entry(
                    "benchmarks",
                    Set.of(
                            "perdure-core",
                            "perdure-embedded",
                            "perdure-postgres",
                            "perdure-micrometer",
                            "perdure-shards")));

    /** These have rules of their own for their packages, which are stricter than those here. */
    private static final Map<String, String> OWN_RULES = Map.of(
            "perdure-core", "src/test/java/dev/perdure/architecture/ArchitectureTest.java",
            "perdure-postgres", "src/test/java/dev/perdure/postgres/RoomsTest.java");

    /** Measures single parts of the engine, so it reaches into the engine. */
    private static final String MICRO_BENCHMARKS = "dev.perdure.benchmarks.micro";

    /** They log nothing that users have thrown. */
    private static final Set<String> WITHOUT_USERS = Set.of("perdure-embedded", "torture", "examples", "benchmarks");

    private static final List<MavenModule> MODULES = MavenModule.all();

    /** A class of one module that uses a class of another. */
    private record Arrow(MavenModule from, JavaClass origin, MavenModule to, JavaClass target) {}

    private static List<Arrow> arrows() {
        Map<String, MavenModule> owners = new HashMap<>();
        MODULES.forEach(module -> module.classes().forEach(type -> owners.put(type.getName(), module)));
        List<Arrow> arrows = new ArrayList<>();
        for (MavenModule module : MODULES) {
            for (JavaClass type : module.classes()) {
                type.getDirectDependenciesFromSelf().forEach(dependency -> {
                    JavaClass target = dependency.getTargetClass().getBaseComponentType();
                    MavenModule owner = owners.get(target.getName());
                    if (owner != null && owner != module) {
                        arrows.add(new Arrow(module, type, owner, target));
                    }
                });
            }
        }
        return arrows;
    }

    private static List<MavenModule> withoutOwnRules() {
        return MODULES.stream()
                .filter(module -> !OWN_RULES.containsKey(module.name()))
                .toList();
    }

    @Test
    void modules_know_each_other_as_listed() {
        Map<String, Set<String>> found = new TreeMap<>();
        MODULES.forEach(module -> found.put(module.name(), new TreeSet<>()));
        arrows().forEach(arrow -> found.get(arrow.from().name()).add(arrow.to().name()));
        assertThat(found).isEqualTo(KNOWS);
    }

    @Test
    void a_module_uses_only_what_another_exports_to_it() {
        List<Arrow> arrows = arrows();
        assertThat(arrows).hasSizeGreaterThan(1_000);
        Map<String, Set<String>> found = new TreeMap<>();
        arrows.stream()
                .filter(arrow -> !arrow.to().exports(arrow.target().getPackageName(), arrow.from()))
                .forEach(arrow -> found.computeIfAbsent(arrow.origin().getPackageName(), unseen -> new TreeSet<>())
                        .add(arrow.target().getName()));
        assertThat(found).as("packages that use what is not exported to them").containsOnlyKeys(MICRO_BENCHMARKS);
    }

    @Test
    void a_package_belongs_to_one_module() {
        Map<String, Set<String>> owners = new TreeMap<>();
        MODULES.forEach(module -> module.packages()
                .forEach(name ->
                        owners.computeIfAbsent(name, unseen -> new TreeSet<>()).add(module.name())));
        assertThat(owners)
                .hasSizeGreaterThan(MODULES.size())
                .allSatisfy((name, modules) -> assertThat(modules).as(name).hasSize(1));
    }

    @Test
    void the_modules_with_rules_of_their_own_have_them() {
        OWN_RULES.forEach((module, test) -> assertThat(MODULES)
                .filteredOn(one -> one.name().equals(module))
                .singleElement()
                .satisfies(one -> assertThat(one.file(test)).exists()));
    }

    @Test
    void no_cycles_between_packages() {
        Set<String> packages = withoutOwnRules().stream()
                .flatMap(module -> module.packages().stream())
                .collect(Collectors.toSet());
        assertThat(packages).hasSizeGreaterThan(withoutOwnRules().size());
        List<Path> folders = withoutOwnRules().stream()
                .map(module -> module.file("target/classes"))
                .toList();
        slices().assignedFrom(new Packages(packages))
                .should()
                .beFreeOfCycles()
                .check(new ClassFileImporter().importPaths(folders));
    }

    /** Each package for itself. */
    private static final class Packages implements SliceAssignment {
        private final Set<String> names;

        Packages(Set<String> names) {
            this.names = names;
        }

        @Override
        public SliceIdentifier getIdentifierOf(JavaClass type) {
            return names.contains(type.getPackageName())
                    ? SliceIdentifier.of(type.getPackageName())
                    : SliceIdentifier.ignore();
        }

        @Override
        public String getDescription() {
            return "packages";
        }
    }

    /** Logging must never decide how a run goes on: only {@code EngineLog} cannot throw what users have thrown. */
    @Test
    void only_the_loggers_of_the_engine_are_used() {
        Set<String> found = MODULES.stream()
                .filter(module -> !WITHOUT_USERS.contains(module.name()))
                .flatMap(module -> module.classes().stream())
                .filter(type -> type.getMethodCallsFromSelf().stream()
                        .anyMatch(call -> call.getTargetOwner().getName().equals("org.slf4j.LoggerFactory")))
                .map(JavaClass::getName)
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(found)
                .containsExactly(
                        "dev.perdure.cli.dashboard.SampleShop", // the code of a user
                        "dev.perdure.spi.report.EngineLog");
    }

    @Test
    void no_package_has_too_many_files() {
        for (MavenModule module : withoutOwnRules()) {
            assertThat(module.files())
                    .as(module.name())
                    .isNotEmpty()
                    .allSatisfy((name, files) -> assertThat(files).as(name).isLessThanOrEqualTo(MOST_FILES));
        }
    }
}
