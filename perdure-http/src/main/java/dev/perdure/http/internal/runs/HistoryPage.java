package dev.perdure.http.internal.runs;

import dev.perdure.HistoryEvent;
import dev.perdure.http.internal.show.Paging;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A part of a history. Its place is a time and how many events of that instant come before it, because several events
 * may have one instant. New events have later times, so a place stays where it is.
 *
 * @param events the events
 * @param next where the next part begins, if there is one
 */
record HistoryPage(List<HistoryEvent> events, Optional<String> next) {
    static HistoryPage of(List<HistoryEvent> all, Optional<String> after, int limit) {
        int from = after.map(place -> index(all, place)).orElse(0);
        int to = Math.min(all.size(), from + limit);
        return new HistoryPage(
                all.subList(from, to), to == all.size() ? Optional.empty() : Optional.of(place(all, to - 1)));
    }

    private static String place(List<HistoryEvent> all, int last) {
        Instant at = all.get(last).at();
        long before = all.subList(0, last + 1).stream()
                .filter(event -> event.at().equals(at))
                .count();
        return before + "@" + at;
    }

    private static int index(List<HistoryEvent> all, String place) {
        try {
            int mark = place.indexOf('@');
            Instant at = Instant.parse(place.substring(mark + 1));
            int last = Integer.parseInt(place.substring(0, Math.max(mark, 0)));
            return index(all, at, last);
        } catch (DateTimeException | NumberFormatException wrong) {
            throw Paging.unknownPlace();
        }
    }

    /** After this many events of the instant. If there are fewer by now, after the instant. */
    private static int index(List<HistoryEvent> all, Instant at, int last) {
        int seen = 0;
        int later = all.size();
        for (int i = 0; i < all.size(); i++) {
            int order = all.get(i).at().compareTo(at);
            seen += order == 0 ? 1 : 0;
            if (order == 0 && seen == last) {
                return i + 1;
            }
            later = order > 0 ? Math.min(later, i) : later;
        }
        return later;
    }
}
