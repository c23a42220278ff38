package dev.perdure.architecture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What the project promises and shows by a test: what the sources have, and what the list of promises says. */
final class Promises {
    /** When a promise is checked. */
    enum Group {
        BUILD,
        THOROUGH,
        GONE
    }

    /**
     * A promise. It is named by a kind and a name.
     *
     * @param group when it is checked
     * @param why the reason why not in every build; empty if it is in every build, or nobody has given one
     */
    record Promise(Group group, String why) {}

    private static final Pattern LINE = Pattern.compile("(build|thorough|gone) +(\\w+) +(\\S+)(?: because (.+))?");
    private static final Pattern NESTED = Pattern.compile(
            "((?:@Tag\\(\"thorough\"\\)\\s+)?)class \\w+ extends (\\w+Scenarios) implements OnPostgres");
    private static final Pattern CONSTANT = Pattern.compile("^ {4}([A-Z][A-Z_]+)(?=[(,;])", Pattern.MULTILINE);
    private static final Pattern GUARANTEE = Pattern.compile("^\\| (\\d+) \\|", Pattern.MULTILINE);
    private static final Pattern NAMED = Pattern.compile("`(\\w+)\\.(\\w+)`");

    private Promises() {}

    private static String read(String file) {
        try {
            return Files.readString(Pom.ROOT.resolve(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What the sources have. */
    static SortedMap<String, Group> made() {
        SortedMap<String, Group> made = new TreeMap<>();
        Map<String, TestSource> tests = TestSource.all();
        for (TestSource test : tests.values()) {
            if (test.name().endsWith("Conformance")) {
                addCases(made, "conformance", test);
            } else if (test.name().endsWith("Scenarios")) {
                addCases(made, "scenario", test);
            }
        }
        String onPostgres = tests.get("PostgresScenariosIT").text();
        NESTED.matcher(onPostgres)
                .results()
                .forEach(nested -> made.merge(
                        "on_postgres " + nested.group(2), group(!nested.group(1).isEmpty()), Promises::earlier));
        addDefects(
                made,
                "simulated_defect",
                "perdure-simulation/src/main/java/dev/perdure/simulation/store/Defects.java",
                tests.get("PlantedDefectsTest"));
        addDefects(
                made,
                "planted_defect",
                "torture/src/main/java/dev/perdure/torture/defect/Planted.java",
                tests.get("PlantedDefectsIT"));
        names(GUARANTEE, read("docs/guarantees.md")).forEach(number -> made.put("guarantee " + number, Group.BUILD));
        NAMED.matcher(read("docs/operate/security.md"))
                .results()
                .forEach(named -> made.put("security " + named.group(1) + "." + named.group(2), groupOf(tests, named)));
        return made;
    }

    private static void addCases(SortedMap<String, Group> made, String kind, TestSource test) {
        for (TestSource.Case each : test.cases()) {
            made.put("%s %s.%s".formatted(kind, test.name(), each.name()), group(each.thorough()));
        }
    }

    /** The constants of an enum. The first case of the test plants each of them. */
    private static void addDefects(SortedMap<String, Group> made, String kind, String file, TestSource test) {
        Group group = group(test.cases().getFirst().thorough());
        names(CONSTANT, read(file)).forEach(defect -> made.put(kind + " " + defect, group));
    }

    private static Group group(boolean thorough) {
        return thorough ? Group.THOROUGH : Group.BUILD;
    }

    private static Group earlier(Group one, Group other) {
        return one.compareTo(other) <= 0 ? one : other;
    }

    private static Group groupOf(Map<String, TestSource> tests, MatchResult named) {
        TestSource test = tests.get(named.group(1));
        return test == null
                ? Group.GONE
                : test.cases().stream()
                        .filter(each -> each.name().equals(named.group(2)))
                        .map(each -> group(each.thorough()))
                        .findFirst()
                        .orElse(Group.GONE);
    }

    private static List<String> names(Pattern pattern, String text) {
        return pattern.matcher(text).results().map(found -> found.group(1)).toList();
    }

    /** What a list says, by kind and name. A line that is none is refused. */
    static SortedMap<String, Promise> listed(String list) {
        SortedMap<String, Promise> listed = new TreeMap<>();
        list.lines().filter(line -> !line.isBlank() && !line.startsWith("#")).forEach(line -> {
            Matcher said = LINE.matcher(line);
            if (!said.matches()) {
                throw new IllegalArgumentException("Not a line of the list of promises: " + line);
            }
            String why = said.group(4) == null ? "" : said.group(4);
            Group group = Group.valueOf(said.group(1).toUpperCase(Locale.ROOT));
            listed.put(said.group(2) + " " + said.group(3), new Promise(group, why));
        });
        return listed;
    }

    /** What is wrong with a list, given what the sources have: a line for each promise. */
    static List<String> differences(SortedMap<String, Promise> listed, SortedMap<String, Group> made) {
        SortedMap<String, String> wrong = new TreeMap<>(Comparator.naturalOrder());
        made.forEach((name, group) -> {
            Promise said = listed.get(name);
            if (said == null) {
                wrong.put(name, "is new: write the list anew.");
            } else if (said.group() == Group.GONE) {
                wrong.put(name, "is there again: remove its line, and write the list anew.");
            } else if (said.group() == Group.THOROUGH && group == Group.BUILD) {
                wrong.put(name, "is checked in every build now: write the list anew.");
            } else if (said.group() == Group.BUILD && group != Group.BUILD) {
                wrong.put(
                        name,
                        "is no longer checked in every build. Check it there, or let its line begin with 'thorough' and end with 'because' and the reason.");
            }
        });
        listed.forEach((name, said) -> {
            if (!made.containsKey(name) && said.group() != Group.GONE) {
                wrong.put(
                        name,
                        "is no longer shown. Bring it back, or let its line begin with 'gone' and end with 'because' and the reason.");
            } else if (said.group() != Group.BUILD && said.why().isEmpty()) {
                wrong.putIfAbsent(
                        name,
                        "has no reason why it is not checked in every build: let its line end with 'because' and the reason.");
            }
        });
        return wrong.entrySet().stream()
                .map(each -> "'%s' %s".formatted(each.getKey(), each.getValue()))
                .toList();
    }

    /** The list anew: with what came to it, and never without what went. */
    static String written(SortedMap<String, Promise> listed, SortedMap<String, Group> made) {
        SortedMap<String, Promise> all = new TreeMap<>(listed);
        made.forEach((name, group) -> {
            Promise said = all.get(name);
            if (said == null || group == Group.BUILD && said.group() == Group.THOROUGH) {
                all.put(name, new Promise(group, ""));
            }
        });
        StringBuilder text = new StringBuilder("""
                # What the project promises and shows by a test: when it is checked, its kind, its name. PromisesTest compares this list with the sources.
                # A command writes it: ./mvnw test -pl architecture -Dtest=PromisesTest -Dpromises=write
                # What is gone, or is not checked in every build, keeps its line, which ends with 'because' and the reason.
                """);
        all.forEach((name, said) -> text.append(
                        "%-8s ".formatted(said.group().name().toLowerCase(Locale.ROOT)))
                .append(name)
                .append(said.why().isEmpty() ? "" : " because " + said.why())
                .append('\n'));
        return text.toString();
    }
}
