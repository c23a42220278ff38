package dev.perdure.architecture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A class with tests, as it is written.
 *
 * @param name its simple name
 * @param text its source
 */
record TestSource(String name, String text) {
    /** A test. {@code thorough}: it runs with {@code -Pthorough} only. */
    record Case(String name, boolean thorough) {}

    private static final Pattern TEST =
            Pattern.compile("@(Test|ParameterizedTest|RepeatedTest|TestFactory|Property)\\b");
    private static final Pattern METHOD = Pattern.compile("\\b(?:void|Stream<DynamicTest>) (\\w+)\\(");
    private static final String THOROUGH = "@Tag(\"thorough\")";

    /** All classes with tests, also those of the suites that stores run, by name. */
    static Map<String, TestSource> all() {
        try (Stream<Path> files = Files.walk(Pom.ROOT)) {
            return files.filter(TestSource::holdsTests)
                    .map(TestSource::of)
                    .collect(
                            Collectors.toMap(TestSource::name, Function.identity(), (one, other) -> one, TreeMap::new));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean holdsTests(Path file) {
        String path = Pom.ROOT.relativize(file).toString();
        return path.endsWith(".java")
                && (path.contains("/src/test/java/") || path.startsWith("perdure-store-conformance/src/main/"));
    }

    private static TestSource of(Path file) {
        try {
            return new TestSource(file.getFileName().toString().replace(".java", ""), Files.readString(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Its tests, in their order. A blank line divides what stands before a method from the method before it. */
    List<Case> cases() {
        boolean whole =
                text.substring(0, Math.max(0, text.indexOf("class " + name))).contains(THOROUGH);
        List<Case> cases = new ArrayList<>();
        for (String paragraph : text.split("\\n\\s*\\n")) {
            Matcher method = METHOD.matcher(paragraph);
            if (method.find()) {
                String before = paragraph.substring(0, method.start());
                if (TEST.matcher(before).find()) {
                    cases.add(new Case(method.group(1), whole || before.contains(THOROUGH)));
                }
            }
        }
        return cases;
    }
}
