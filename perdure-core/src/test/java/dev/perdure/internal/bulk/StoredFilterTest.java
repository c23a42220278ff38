package dev.perdure.internal.bulk;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.attribute.Attribute;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class StoredFilterTest {
    private static final RunFilter EVERYTHING = RunFilter.all()
            .state(RunState.FAILED, RunState.PAUSED)
            .definition("order")
            .queue("slow")
            .key("c-7")
            .version("v2")
            .parent(RunId.of("parent"))
            .root(RunId.of("root"))
            .schedule("nightly")
            .idPrefix("o-")
            .reason("java.net.")
            .withoutEngineRuns()
            .created(Instant.MIN, Instant.parse("2030-01-01T00:00:00Z"))
            .ended(Instant.EPOCH, Instant.MAX)
            .where(Attribute.text("customer").is("a:b"))
            .where(Attribute.number("total").atLeast(12.5))
            .where(Attribute.flag("urgent").is(true))
            .where(Attribute.time("due").below(Instant.EPOCH))
            .where(Attribute.keywords("tags").contains("x"));

    /** What a filter says, by the names of its accessors; without order, limit and page. */
    private static List<String> said(RunFilter filter) {
        return Arrays.stream(RunFilter.class.getMethods())
                .filter(method -> method.getDeclaringClass() == RunFilter.class
                        && method.getParameterCount() == 0
                        && !Modifier.isStatic(method.getModifiers())
                        && !List.of("isOldestFirst", "oldestFirst", "limit", "after", "withoutEngineRuns")
                                .contains(method.getName()))
                .sorted((one, other) -> one.getName().compareTo(other.getName()))
                .map(method -> method.getName() + " " + value(method, filter))
                .toList();
    }

    private static Object value(Method accessor, RunFilter filter) {
        try {
            return accessor.invoke(filter);
        } catch (ReflectiveOperationException wrong) {
            throw new AssertionError(wrong);
        }
    }

    @Test
    void every_condition_of_a_filter_comes_back() {
        assertThat(said(EVERYTHING))
                .noneMatch(text -> text.contains("empty") || text.endsWith("[]") || text.endsWith("false"));
        assertThat(said(StoredFilter.of(EVERYTHING).filter())).isEqualTo(said(EVERYTHING));
        assertThat(said(StoredFilter.of(RunFilter.all()).filter())).isEqualTo(said(RunFilter.all()));
    }

    @Test
    void people_read_what_a_filter_selects() {
        assertThat(StoredFilter.of(RunFilter.all())).hasToString("all runs");
        assertThat(StoredFilter.of(RunFilter.all()
                        .definition("order")
                        .state(RunState.FAILED)
                        .where(Attribute.text("customer").is("c-7"))))
                .hasToString("definition=order state=FAILED customer IS text:c-7");
    }
}
