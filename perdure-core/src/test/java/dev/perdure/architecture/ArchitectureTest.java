package dev.perdure.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.SimpleConditionEvent.violated;
import static com.tngtech.archunit.lang.conditions.ArchConditions.onlyDependOnClassesThat;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.core.domain.JavaTypeVariable;
import com.tngtech.archunit.core.domain.properties.HasModifiers;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import dev.perdure.spi.report.EngineLog;
import dev.perdure.spi.report.StepLog;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ref.Reference;
import java.lang.reflect.Field;
import java.nio.Buffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.Format;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Calendar;
import java.util.Collection;
import java.util.Date;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.Phaser;
import java.util.concurrent.Semaphore;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** What the compiler cannot check: which package may use which, and which may touch the outside world. */
class ArchitectureTest {
    private static final String OURS = "dev.perdure..";
    private static final String ROOT = "dev.perdure";
    private static final String[] API = {
        ROOT,
        "dev.perdure.attribute",
        "dev.perdure.audit",
        "dev.perdure.bulk",
        "dev.perdure.dag",
        "dev.perdure.error",
        "dev.perdure.interceptor",
        "dev.perdure.object",
        "dev.perdure.queue",
        "dev.perdure.reaction",
        "dev.perdure.report",
        "dev.perdure.retention",
        "dev.perdure.schedule",
        "dev.perdure.statistics",
        "dev.perdure.status",
        "dev.perdure.transaction",
        "dev.perdure.version"
    };
    private static final String SPI = "dev.perdure.spi..";
    private static final String MEMORY = "dev.perdure.memory";
    private static final String FOLDER = "dev.perdure.folder";
    private static final String INTERNAL = "dev.perdure.internal..";

    /** How the API joins futures without knowing the engine. */
    private static final String JOIN = "dev.perdure.internal.join";

    /** How sagas tell their runs what they undo, without knowing the engine. */
    private static final String UNDO = "dev.perdure.internal.undo";

    /** What names and messages have to be like, which the API checks before anything is written. */
    private static final String TEXT = "dev.perdure.internal.text";

    /** Cron expressions, which the API checks before anything is written. */
    private static final String CRON = "dev.perdure.internal.cron";

    /** What the builder of a DAG writes into and the engine reads. */
    private static final String DAG_MODEL = "dev.perdure.internal.dag.model";

    /** The one package that may touch clock, sleep, chance and threads. */
    private static final String TIME = "dev.perdure.internal.time";

    private static final List<Class<?>> MUTABLE_TYPES = List.of(
            Executor.class,
            Future.class,
            Semaphore.class,
            CountDownLatch.class,
            Phaser.class,
            RandomGenerator.class,
            BitSet.class,
            Date.class,
            Calendar.class,
            Iterator.class,
            Format.class,
            Buffer.class,
            Reference.class,
            Appendable.class,
            AutoCloseable.class,
            Thread.class,
            ThreadLocal.class);

    private static final Path SOURCES = Path.of("src", "main", "java");

    private static final JavaClasses PRODUCTION = new ClassFileImporter().importPath(Path.of("target", "classes"));

    @Test
    void core_knows_no_jdbc() {
        check(noClasses().should().dependOnClassesThat().resideInAnyPackage("java.sql..", "javax.sql.."));
    }

    @Test
    void only_the_time_package_touches_clock_sleep_random_and_threads() {
        check(noClasses().that().resideOutsideOfPackage(TIME).should().accessTargetWhere(OutsideWorld.IS_TOUCHED));
    }

    /** Their names are in docs/operate/logging.md, and stay when a class gets another name. */
    @Test
    void loggers_are_named_for_users_and_those_of_the_engine() {
        check(noClasses()
                .that()
                .doNotHaveFullyQualifiedName(EngineLog.class.getName())
                .should()
                .dependOnClassesThat()
                .haveFullyQualifiedName(LoggerFactory.class.getName()));
    }

    @Test
    void every_internal_package_is_a_room_and_every_room_has_classes() {
        Set<String> packages = PRODUCTION.stream()
                .filter(resideInAPackage(INTERNAL))
                .map(JavaClass::getPackageName)
                .collect(Collectors.toSet());
        assertThat(packages).containsExactlyInAnyOrderElementsOf(Rooms.names());
    }

    /** So there can be no cycle. */
    @Test
    void the_arrows_between_rooms_run_down_only() {
        List<String> above = new ArrayList<>();
        for (Rooms.Room room : Rooms.TOP_TO_BOTTOM) {
            above.add(room.name());
            assertThat(room.uses()).as("what %s uses", room.name()).doesNotContainAnyElementsOf(above);
            assertThat(Rooms.names()).as("what %s uses", room.name()).containsAll(room.uses());
        }
    }

    @Test
    void rooms_know_only_the_rooms_that_they_may_use() {
        for (Rooms.Room room : Rooms.TOP_TO_BOTTOM) {
            check(classes()
                    .that()
                    .resideInAPackage(room.name())
                    .should(onlyDependOnClassesThat(not(resideInAPackage(INTERNAL))
                            .or(resideInAnyPackage(with(room.name(), room.uses().toArray(String[]::new)))))));
        }
    }

    @Test
    void no_two_types_have_the_same_simple_name() throws IOException {
        assertThat(types().map(file -> file.getFileName().toString()))
                .isNotEmpty()
                .doesNotHaveDuplicates();
    }

    /** Ids, states and exceptions are the bottom; the engine's front door alone knows what is behind it. */
    @Test
    void the_api_knows_nothing_else_of_ours_but_for_the_front_door() {
        check(classes()
                .that()
                .resideInAnyPackage(API)
                .and()
                .doNotHaveFullyQualifiedName("dev.perdure.Perdure")
                .and()
                .doNotHaveFullyQualifiedName("dev.perdure.PerdureBuilder")
                .should(knowOfOursOnly(with(JOIN, with(UNDO, with(TEXT, with(CRON, with(DAG_MODEL, API))))))));
    }

    @Test
    void the_model_of_a_dag_knows_only_the_api() {
        check(classes().that().resideInAPackage(DAG_MODEL).should(knowOfOursOnly(with(DAG_MODEL, with(TEXT, API)))));
    }

    @Test
    void the_store_contract_knows_only_the_api() {
        check(classes().that().resideInAPackage(SPI).should(knowOfOursOnly(with(SPI, API))));
    }

    @Test
    void the_memory_store_knows_only_the_store_contract_the_api_and_where_time_comes_from() {
        check(classes()
                .that()
                .resideInAPackage(MEMORY)
                .should(knowOfOursOnly(with(MEMORY, with(SPI, with(TIME, API))))));
    }

    @Test
    void the_folder_of_payloads_knows_only_the_store_contract_the_api_and_what_messages_are_like() {
        check(classes()
                .that()
                .resideInAPackage(FOLDER)
                .should(knowOfOursOnly(with(FOLDER, with(SPI, with(TEXT, API))))));
    }

    @Test
    void internals_know_the_api_and_the_store_contract_but_no_store() {
        check(classes().that().resideInAPackage(INTERNAL).should(knowOfOursOnly(with(INTERNAL, with(SPI, API)))));
    }

    @Test
    void internals_are_not_in_exported_signatures() {
        check(classes()
                .that(resideInAPackage(OURS).and(not(resideInAPackage(INTERNAL))))
                .and(describe("can be seen from outside", ArchitectureTest::isVisible))
                .should(mentionNoInternals()));
    }

    @Test
    void no_method_is_synchronized() {
        check(methods().should().notHaveModifier(JavaModifier.SYNCHRONIZED));
    }

    @Test
    void no_block_is_synchronized() throws IOException {
        assertThat(sourcesContaining(Pattern.compile("\\bsynchronized\\b"))).isEmpty();
    }

    /** A logging library makes its appenders itself, so {@link StepLog} cannot be passed to them. */
    @Test
    void there_is_no_static_mutable_state() {
        check(fields().that()
                .areStatic()
                .and()
                .areNotDeclaredIn(StepLog.class)
                .and(describe("are written by us", field -> !has(field, JavaModifier.SYNTHETIC)))
                .should(beConstant()));
    }

    /** A rule that selects no class fails, because it would check nothing. */
    private static void check(ArchRule rule) {
        rule.allowEmptyShould(false).check(PRODUCTION);
    }

    private static String[] with(String room, String... others) {
        return Stream.concat(Stream.of(room), Stream.of(others)).toArray(String[]::new);
    }

    private static ArchCondition<JavaClass> knowOfOursOnly(String... packages) {
        return onlyDependOnClassesThat(not(resideInAPackage(OURS)).or(resideInAnyPackage(packages)));
    }

    private static boolean isVisible(JavaClass type) {
        return isVisibleItself(type)
                && type.getEnclosingClass().map(ArchitectureTest::isVisible).orElse(true);
    }

    private static boolean isVisibleItself(HasModifiers element) {
        return has(element, JavaModifier.PUBLIC) || has(element, JavaModifier.PROTECTED);
    }

    private static boolean has(HasModifiers element, JavaModifier modifier) {
        return element.getModifiers().contains(modifier);
    }

    private static ArchCondition<JavaClass> mentionNoInternals() {
        return new ArchCondition<>("mention no internal type in a signature") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                Stream<JavaType> supertypes = Stream.concat(
                        Stream.concat(type.getSuperclass().stream(), type.getInterfaces().stream()),
                        bounds(type.getTypeParameters()));
                report(type.getDescription(), supertypes, type, events);
                type.getMembers().stream()
                        .filter(ArchitectureTest::isVisibleItself)
                        .forEach(member -> report(member.getDescription(), signature(member), type, events));
            }

            private void report(String where, Stream<JavaType> types, JavaClass owner, ConditionEvents events) {
                types.flatMap(type -> type.getAllInvolvedRawTypes().stream())
                        .filter(resideInAPackage(INTERNAL))
                        .distinct()
                        .forEach(type -> events.add(violated(owner, where + " mentions " + type.getName())));
            }
        };
    }

    private static Stream<JavaType> signature(JavaMember member) {
        return switch (member) {
            case JavaField field -> Stream.of(field.getType());
            case JavaCodeUnit code ->
                Stream.of(
                                Stream.of(code.getReturnType()),
                                code.getParameterTypes().stream(),
                                code.getExceptionTypes().stream(),
                                bounds(code.getTypeParameters()))
                        .flatMap(types -> types);
            default -> throw new AssertionError("a new kind of member: " + member);
        };
    }

    private static Stream<JavaType> bounds(List<? extends JavaTypeVariable<?>> variables) {
        return variables.stream().flatMap(variable -> variable.getUpperBounds().stream());
    }

    private static ArchCondition<JavaField> beConstant() {
        return new ArchCondition<>("be final and of an immutable type") {
            @Override
            public void check(JavaField field, ConditionEvents events) {
                if (!has(field, JavaModifier.FINAL)) {
                    events.add(violated(field, field.getFullName() + " is static and not final"));
                } else if (isMutable(field)) {
                    events.add(violated(
                            field,
                            field.getFullName() + " is static and mutable: "
                                    + field.getRawType().getName()));
                }
            }
        };
    }

    /**
     * Several engines live in one JVM, so nothing they change may be static. Not on the list on purpose: loggers, and
     * {@link ClassValue}, which remembers what any engine would compute for a class and lets go of it with the class.
     */
    private static boolean isMutable(JavaField field) {
        JavaClass type = field.getRawType();
        if (type.isAssignableTo(Collection.class) || type.isAssignableTo(Map.class)) {
            return !isUnmodifiable(valueOf(field));
        }
        return type.isArray()
                || MUTABLE_TYPES.stream().anyMatch(type::isAssignableTo)
                || resideInAnyPackage("java.util.concurrent.atomic", "java.util.concurrent.locks")
                        .test(type)
                || (resideInAPackage(OURS).test(type) && hasChangingField(type));
    }

    private static boolean hasChangingField(JavaClass type) {
        return type.getAllFields().stream()
                .filter(field -> resideInAPackage(OURS).test(field.getOwner()))
                .anyMatch(field -> !has(field, JavaModifier.STATIC) && !has(field, JavaModifier.FINAL));
    }

    /** The type says only {@code List}: whether it is one from {@code List.of} can be seen on the object alone. */
    private static boolean isUnmodifiable(Object value) {
        String type = value.getClass().getName();
        return type.startsWith("java.util.ImmutableCollections$")
                || type.startsWith("java.util.Collections$Unmodifiable")
                || type.startsWith("java.util.Collections$Empty");
    }

    private static Object valueOf(JavaField field) {
        try {
            Field reflected = field.reflect();
            reflected.setAccessible(true);
            return reflected.get(null);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }

    /** ArchUnit sees no blocks, so the sources are read, without their comments. */
    private static List<Path> sourcesContaining(Pattern pattern) throws IOException {
        assertThat(sources()).isNotEmpty();
        return sources().stream()
                .filter(file -> pattern.matcher(code(file)).find())
                .toList();
    }

    private static List<Path> sources() throws IOException {
        try (Stream<Path> files = Files.walk(SOURCES)) {
            return files.filter(file -> file.toString().endsWith(".java")).toList();
        }
    }

    /** The sources of top-level types. */
    private static Stream<Path> types() throws IOException {
        return sources().stream().filter(file -> !file.toString().endsWith("-info.java"));
    }

    private static String code(Path file) {
        try {
            return Files.readString(file).replaceAll("(?s)/\\*.*?\\*/|//[^\\n]*", " ");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
