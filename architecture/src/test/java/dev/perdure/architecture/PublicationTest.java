package dev.perdure.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What is published has one version, a module name, and all that a repository demands. */
class PublicationTest {
    private static final Pattern DECLARED = Pattern.compile("\\bmodule\\s+([\\w.]+)\\s*\\{");
    /** A dependency on one of our modules in a document, with its version. */
    private static final Pattern QUOTED =
            Pattern.compile("<artifactId>(perdure-[\\w-]+)</artifactId>\\s*<version>([^<]+)</version>");

    private static final String REVISION =
            Pom.root().text("/project/properties/revision").orElseThrow();

    @Test
    void the_version_stands_in_one_place() {
        assertThat(Pom.root().text("/project/version")).hasValue("${revision}");
        List<Pom> children = Pom.all().stream()
                .filter(pom -> pom.text("/project/parent/groupId").equals(Optional.of("dev.perdure")))
                .toList();
        assertThat(children).hasSizeGreaterThan(20).allSatisfy(pom -> {
            assertThat(pom.text("/project/parent/version")).hasValue("${revision}");
            assertThat(pom.text("/project/version")).isEmpty();
        });
    }

    @Test
    void poms_without_our_parent_repeat_the_version() {
        assertThat(Pom.all())
                .filteredOn(pom -> pom.text("/project/properties/revision").isPresent())
                .hasSizeGreaterThan(1)
                .allSatisfy(pom ->
                        assertThat(pom.text("/project/properties/revision")).hasValue(REVISION));
    }

    @Test
    void the_documentation_names_the_version() throws IOException {
        int found = 0;
        try (Stream<Path> files = Files.walk(Pom.ROOT.resolve("docs"))) {
            for (Path file :
                    files.filter(path -> path.toString().endsWith(".md")).toList()) {
                for (var quoted :
                        QUOTED.matcher(Files.readString(file)).results().toList()) {
                    assertThat(quoted.group(2))
                            .as("%s in %s", quoted.group(1), file)
                            .isEqualTo(REVISION);
                    found++;
                }
            }
        }
        assertThat(found).isGreaterThan(3);
    }

    @Test
    void every_published_jar_has_a_module_name_of_its_own() throws IOException {
        Map<String, Pom> names = new HashMap<>();
        for (Pom pom : Pom.published()) {
            Path descriptor = pom.file().resolveSibling("src/main/java/module-info.java");
            Optional<String> name = pom.text("/project/properties/module.name");
            assertThat(name.isPresent())
                    .as("%s has either a module-info or a property module.name", pom)
                    .isNotEqualTo(Files.exists(descriptor));
            String taken = name.isPresent() ? name.get() : declared(descriptor);
            assertThat(taken).startsWith("dev.perdure");
            assertThat(names.put(taken, pom)).as(taken).isNull();
        }
        assertThat(names).hasSizeGreaterThan(10);
    }

    private static String declared(Path descriptor) throws IOException {
        return DECLARED.matcher(Files.readString(descriptor))
                .results()
                .findFirst()
                .orElseThrow()
                .group(1);
    }

    @Test
    void the_bom_lists_what_is_published() {
        Pom bom = Pom.of(Pom.ROOT.resolve("perdure-bom/pom.xml"));
        assertThat(bom.texts("/project/dependencyManagement/dependencies/dependency/artifactId"))
                .containsExactlyInAnyOrderElementsOf(
                        Pom.published().stream().map(Pom::artifact).toList());
    }

    @Test
    void poms_say_what_a_repository_demands() {
        Pom root = Pom.root();
        for (String element : List.of("url", "licenses/license/url", "developers/developer/name", "scm/connection")) {
            assertThat(root.text("/project/" + element)).as(element).isPresent();
        }
        assertThat(Pom.published()).allSatisfy(pom -> {
            assertThat(pom.text("/project/name")).isPresent();
            assertThat(pom.text("/project/description")).isPresent();
        });
    }
}
