package dev.perdure.http.internal.runs;

import dev.perdure.http.internal.show.Paging;
import dev.perdure.spi.EngineView.HistoryPlace;
import dev.perdure.spi.Journals.TimePlace;
import java.util.List;

/** Places in histories as the texts that clients give back. */
final class HistoryPlaces {
    private static final String BETWEEN = "_";
    private static final int PARTS = 6;

    private HistoryPlaces() {}

    static String text(HistoryPlace place) {
        return String.join(
                BETWEEN,
                Integer.toString(place.state()),
                Integer.toString(place.answers()),
                Integer.toString(place.entry().position()),
                Integer.toString(place.entry().note()),
                place.entry().at().toString(),
                place.at().toString());
    }

    static HistoryPlace read(String text) {
        try {
            List<String> parts = List.of(text.split(BETWEEN, -1));
            if (parts.size() != PARTS) {
                throw Paging.unknownPlace();
            }
            TimePlace entry = new TimePlace(
                    Paging.time(parts.get(4)), Integer.parseInt(parts.get(2)), Integer.parseInt(parts.get(3)));
            int answers = Math.max(0, Integer.parseInt(parts.get(1)));
            return new HistoryPlace(entry, Integer.parseInt(parts.get(0)), answers, Paging.time(parts.get(5)));
        } catch (NumberFormatException wrong) {
            throw Paging.unknownPlace();
        }
    }
}
