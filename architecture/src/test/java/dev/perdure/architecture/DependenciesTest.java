package dev.perdure.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.architecture.Vulnerabilities.Vulnerability;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The libraries on which published modules depend, against the files in the folder security. Needs no network and no
 * other build.
 */
final class DependenciesTest {
    private static final Pom PARENT = Pom.root();
    private static final Path LISTED = Pom.ROOT.resolve("security/dependencies.txt");
    private static final Pattern PROPERTY = Pattern.compile("\\$\\{([\\w.-]+)}");
    private static final Set<String> LICENCES =
            Set.of("Apache-2.0", "BSD-2-Clause", "MIT", "EPL-2.0", "EPL-2.0 OR LGPL-2.1", "PostgreSQL", "0BSD");

    /** A library in a version. */
    private record Library(String group, String artifact, String version) {
        static Library of(String name) {
            String[] parts = name.split(":", 3);
            return new Library(parts[0], parts[1], parts[2]);
        }

        @Override
        public String toString() {
            return "%s:%s:%s".formatted(group, artifact, version);
        }
    }

    /** A version that the root manages. */
    private record Managed(String group, String artifact, String version, boolean isBom) {}

    private static final List<Managed> MANAGED = each(PARENT, "/project/dependencyManagement/dependencies")
            .map(path -> new Managed(
                    text(PARENT, path + "groupId"),
                    PARENT.text(path + "artifactId").orElse(""),
                    text(PARENT, path + "version"),
                    text(PARENT, path + "scope").equals("import")))
            .toList();

    /** The libraries with their licences. */
    private static TreeMap<String, String> listed() throws IOException {
        return Files.readAllLines(LISTED).stream()
                .filter(line -> !line.isBlank() && !line.startsWith("#"))
                .map(line -> line.strip().split("\\s+", 2))
                .collect(Collectors.toMap(
                        columns -> columns[0], columns -> columns[1], (one, other) -> one, TreeMap::new));
    }

    // ---- what the poms say

    private static Stream<String> each(Pom pom, String dependencies) {
        String path = dependencies + "/dependency";
        int count = pom.texts(path + "/artifactId").size();
        return IntStream.rangeClosed(1, count).mapToObj(i -> "%s[%d]/".formatted(path, i));
    }

    private static String text(Pom pom, String path) {
        return expanded(pom.text(path).orElse(""));
    }

    private static String expanded(String text) {
        Matcher matcher = PROPERTY.matcher(text);
        return matcher.replaceAll(found -> Matcher.quoteReplacement(
                PARENT.text("/project/properties/" + found.group(1)).orElse(found.group())));
    }

    /** What a module takes along: neither what only its tests need, nor what its users may or must bring. */
    private static Stream<Library> takenAlong(Pom pom) {
        return each(pom, "/project/dependencies")
                .filter(path -> Set.of("", "compile", "runtime").contains(text(pom, path + "scope")))
                .filter(path -> !text(pom, path + "optional").equals("true"))
                .filter(path -> !text(pom, path + "groupId").equals("dev.perdure"))
                .map(path -> {
                    String group = text(pom, path + "groupId");
                    String artifact = pom.text(path + "artifactId").orElseThrow();
                    String version = text(pom, path + "version");
                    return new Library(group, artifact, version.isEmpty() ? managed(group, artifact) : version);
                });
    }

    /** The version that the root manages, by itself or by a BOM of the group. */
    private static String managed(String group, String artifact) {
        Stream<Managed> itself = MANAGED.stream()
                .filter(each -> each.group().equals(group) && each.artifact().equals(artifact));
        Stream<Managed> boms = MANAGED.stream().filter(each -> each.isBom() && group.startsWith(each.group()));
        return Stream.concat(itself, boms)
                .map(Managed::version)
                .findFirst()
                .orElseThrow(() -> new AssertionError("No version of %s:%s is managed.".formatted(group, artifact)));
    }

    // ---- the checks

    @Test
    void what_published_modules_take_along_is_listed_in_its_version() throws IOException {
        Set<String> taken = Pom.published().stream()
                .flatMap(DependenciesTest::takenAlong)
                .map(Library::toString)
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(taken).hasSizeGreaterThan(15);
        assertThat(listed().keySet())
                .as("security/dependencies.txt lists what the published modules take along")
                .isEqualTo(taken);
    }

    @Test
    void every_licence_may_be_used_beside_ours() throws IOException {
        listed().forEach((library, licence) -> assertThat(LICENCES).as(library).contains(licence));
    }

    @Test
    void no_listed_version_has_a_known_vulnerability() throws IOException {
        for (String name : listed().keySet()) {
            Library library = Library.of(name);
            assertThat(Vulnerabilities.of(library.group(), library.artifact(), library.version()))
                    .as(name)
                    .isEmpty();
        }
    }

    @Test
    void a_version_with_a_known_vulnerability_is_found() throws IOException {
        assertThat(Vulnerabilities.of("org.postgresql", "postgresql", "42.7.11"))
                .extracting(Vulnerability::id)
                .containsExactly("CVE-2026-54291");
        assertThat(Vulnerabilities.of("org.postgresql", "postgresql", "42.7.12"))
                .isEmpty();
        assertThat(Vulnerabilities.of("org.postgresql", "postgresql", "42.7.3")).isEmpty();
        assertThat(Vulnerabilities.of("tools.jackson.core", "jackson-databind", "3.1.5"))
                .extracting(Vulnerability::id)
                .contains("CVE-2026-83557");
        assertThat(Vulnerabilities.of("tools.jackson.core", "jackson-databind", "3.2.4"))
                .isEmpty();
    }
}
