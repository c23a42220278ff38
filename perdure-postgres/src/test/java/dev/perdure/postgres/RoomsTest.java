package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The packages of the store, from the lowest to the highest: each knows only those before it. */
class RoomsTest {
    private static final String STORE = "dev.perdure.postgres";
    private static final int MOST_FILES = 30;
    private static final List<String> ROOMS = List.of(
            ".jdbc",
            ".setup",
            ".lane",
            ".queue",
            ".version",
            ".reaction",
            ".write.change",
            ".hint",
            ".write.part",
            ".limiter",
            ".report",
            ".write",
            ".read",
            ".shard",
            ".inbox",
            ".payload",
            ".removal",
            ".status",
            ".work",
            ".transaction",
            "");

    private static final JavaClasses CLASSES = new ClassFileImporter().importPath(Path.of("target", "classes"));

    private static int floor(JavaClass type) {
        return ROOMS.indexOf(type.getPackageName().substring(STORE.length()));
    }

    @Test
    void every_class_is_in_a_room_and_every_room_has_classes() {
        Map<String, Long> files = CLASSES.stream()
                .filter(JavaClass::isTopLevelClass)
                .collect(Collectors.groupingBy(
                        type -> type.getPackageName().substring(STORE.length()), TreeMap::new, Collectors.counting()));
        assertThat(files.keySet()).containsExactlyInAnyOrderElementsOf(ROOMS);
        assertThat(files.values()).allMatch(count -> count <= MOST_FILES, "at most " + MOST_FILES + " files: " + files);
    }

    @Test
    void the_exported_package_has_public_types_only() {
        assertThat(CLASSES.stream()
                        .filter(JavaClass::isTopLevelClass)
                        .filter(type -> type.getPackageName().equals(STORE))
                        .filter(type -> !type.getModifiers().contains(JavaModifier.PUBLIC))
                        .filter(type -> !type.getSimpleName().equals("package-info"))
                        .map(JavaClass::getName))
                .isEmpty();
    }

    @Test
    void arrows_run_down_only() {
        List<Dependency> between = CLASSES.stream()
                .flatMap(type -> type.getDirectDependenciesFromSelf().stream())
                .filter(arrow -> arrow.getTargetClass().getPackageName().startsWith(STORE))
                .filter(arrow -> floor(arrow.getOriginClass()) != floor(arrow.getTargetClass()))
                .toList();
        assertThat(between).as("arrows between rooms").hasSizeGreaterThan(100);
        assertThat(between.stream()
                        .filter(arrow -> floor(arrow.getOriginClass()) < floor(arrow.getTargetClass()))
                        .map(Dependency::getDescription))
                .isEmpty();
    }
}
