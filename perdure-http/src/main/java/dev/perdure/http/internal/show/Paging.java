package dev.perdure.http.internal.show;

import dev.perdure.http.internal.route.Call;
import dev.perdure.http.internal.route.Parameter;
import dev.perdure.http.internal.route.Problem;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;

/** Lists that are read one page at a time: a page tells where the next one begins. */
public final class Paging {
    /** How many a list shows. */
    public static final Parameter LIMIT = Parameter.query("limit", "How many at most, 1 to 1000. 100 by default.");

    /** What a list is asked with. */
    public static final List<Parameter> PARAMETERS =
            List.of(LIMIT, Parameter.query("after", "The 'next' of the page before."));

    /** What a page says about the next one. */
    public static final String NEXT = "Give it as 'after' to read the next page; missing on the last one.";

    /** How many bytes of values a page has at most, unless its only value has more. */
    public static final int BYTES = 1024 * 1024;

    private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59Z");
    private static final int DEFAULT_LIMIT = 100;
    private static final int MOST = 1_000;

    private Paging() {}

    /** How many the caller wants at most. */
    public static int limit(Call call) {
        return call.number("limit", DEFAULT_LIMIT, 1, MOST);
    }

    /** A time that is part of a place in a list. */
    public static Instant time(String text) {
        try {
            Instant time = Instant.parse(text);
            if (time.isBefore(Instant.EPOCH) || time.isAfter(LATEST)) {
                throw unknownPlace(); // a database may not know it
            }
            return time;
        } catch (DateTimeException wrong) {
            throw unknownPlace();
        }
    }

    /** What is refused if 'after' is no place in the list. */
    public static Problem unknownPlace() {
        return Problem.invalid("The parameter 'after' is not one that this API has given. Give the 'next' of a page.");
    }
}
