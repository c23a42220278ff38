package dev.perdure.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.module.ModuleDescriptor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A module of the build.
 *
 * @param name the name of its folder
 * @param descriptor its {@code module-info}, if it has one
 * @param classes its classes, without those of its tests
 */
record MavenModule(String name, Optional<ModuleDescriptor> descriptor, JavaClasses classes) {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final Pattern LISTED = Pattern.compile("<module>\\s*([^<\\s]+)\\s*</module>");
    /** They consist of tests or of a pom, or {@code verify} does not build them. */
    private static final Set<String> WITHOUT_CLASSES =
            Set.of("architecture", "compatibility", "perdure-bom", "postgres-tests", "examples/kotlin");

    /** Reads all modules that the build lists, so that no test can forget a new one. */
    static List<MavenModule> all() {
        return LISTED.matcher(read(ROOT.resolve("pom.xml")))
                .results()
                .map(found -> found.group(1))
                .filter(name -> !WITHOUT_CLASSES.contains(name))
                .map(MavenModule::of)
                .toList();
    }

    private static MavenModule of(String name) {
        Path folder = ROOT.resolve(name).resolve("target/classes");
        Path descriptor = folder.resolve("module-info.class");
        JavaClasses classes = new ClassFileImporter().importPath(folder);
        if (classes.isEmpty()) {
            throw new IllegalStateException("There are no classes in %s. Build the module first.".formatted(folder));
        }
        return new MavenModule(
                name, Files.exists(descriptor) ? Optional.of(describe(descriptor)) : Optional.empty(), classes);
    }

    private static ModuleDescriptor describe(Path file) {
        try (InputStream bytes = Files.newInputStream(file)) {
            return ModuleDescriptor.read(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Its file of this path. */
    Path file(String path) {
        return ROOT.resolve(name).resolve(path);
    }

    Set<String> packages() {
        return classes.stream().map(JavaClass::getPackageName).collect(Collectors.toSet());
    }

    /** Whether code of another module may use this package. A module without a descriptor exports everything. */
    boolean exports(String packageName, MavenModule to) {
        return descriptor.isEmpty()
                || descriptor.get().exports().stream()
                        .filter(exported -> exported.source().equals(packageName))
                        .anyMatch(exported -> !exported.isQualified()
                                || to.descriptor
                                        .map(other -> exported.targets().contains(other.name()))
                                        .orElse(false));
    }

    /** How many source files each package has. */
    Map<String, Long> files() {
        Path sources = file("src/main/java");
        try (Stream<Path> all = Files.walk(sources)) {
            return all.filter(path -> path.toString().endsWith(".java"))
                    .filter(path -> !path.toString().endsWith("-info.java"))
                    .collect(Collectors.groupingBy(
                            path -> sources.relativize(path.getParent()).toString(),
                            TreeMap::new,
                            Collectors.counting()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
