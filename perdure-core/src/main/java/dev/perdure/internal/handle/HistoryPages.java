package dev.perdure.internal.handle;

import dev.perdure.HistoryEvent;
import dev.perdure.internal.settings.Settings;
import dev.perdure.spi.EngineView.HistoryPage;
import dev.perdure.spi.EngineView.HistoryPlace;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Journals.TimePlace;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.RunRef;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Reads the history of a run one page at a time.
 *
 * <p>How it works: a page is merged from what the journal, the states, the answers of operators and the reports of open
 * steps have after the place. The journal and the states are asked for one item more than the page may have, so the page
 * is full before they end, unless nothing follows. The journal may also return less because of its size; then the page
 * ends with what the journal returned, because what follows there may come before anything else.
 */
public final class HistoryPages {
    private static final int PAGE_BYTES = 1024 * 1024;

    /** Events that are not separated. */
    private sealed interface Item {
        List<HistoryEvent> events();

        default HistoryEvent first() {
            return events().getFirst();
        }
    }

    private record OfJournal(List<HistoryEvent> events, TimePlace place) implements Item {}

    private record OfState(List<HistoryEvent> events, int number) implements Item {}

    private record OfOperator(List<HistoryEvent> events) implements Item {}

    private record OfOpenStep(List<HistoryEvent> events) implements Item {}

    private final Store store;
    private final HistoryReader reader;

    /** For the runs of an engine with these settings. */
    public HistoryPages(Settings settings) {
        this.store = settings.store();
        this.reader = new HistoryReader(settings);
    }

    /** A page after a place. */
    public HistoryPage read(RunRef run, HistoryPlace after, int limit) {
        Deque<Item> states = states(run, after, limit);
        Journals.TimedPage journal = store.journals().readByTime(run, after.entry(), limit + 1, PAGE_BYTES);
        Deque<Item> events = events(run, after, journal);
        long entriesLeft = journal.entries().size();
        List<HistoryEvent> page = new ArrayList<>();
        HistoryPlace place = after;
        while (journal.last() || entriesLeft > 0) {
            Deque<Item> source = source(states, events);
            Item item = source.peek();
            if (item == null) {
                return new HistoryPage(page, Optional.empty());
            }
            if (!page.isEmpty() && page.size() + item.events().size() > limit) {
                break;
            }
            source.remove();
            page.addAll(item.events());
            place = moved(place, item);
            entriesLeft -= item instanceof OfJournal ? 1 : 0;
        }
        return new HistoryPage(page, Optional.of(place));
    }

    /** Which of them has the next item. */
    private static Deque<Item> source(Deque<Item> states, Deque<Item> events) {
        Item state = states.peek();
        Item event = events.peek();
        boolean isEvent = event != null && (state == null || HistoryReader.isBefore(event.first(), state.first()));
        return isEvent ? events : states;
    }

    private static HistoryPlace moved(HistoryPlace place, Item item) {
        HistoryEvent last = item.events().getLast();
        return switch (item) {
            case OfJournal entry -> new HistoryPlace(entry.place(), place.state(), place.answers(), last.at());
            case OfState state -> new HistoryPlace(place.entry(), state.number(), place.answers(), last.at());
            case OfOperator answer -> new HistoryPlace(place.entry(), place.state(), place.answers() + 1, last.at());
            case OfOpenStep report -> new HistoryPlace(place.entry(), place.state(), place.answers(), last.at());
        };
    }

    private Deque<Item> states(RunRef run, HistoryPlace after, int limit) {
        return new ArrayDeque<>(store.runs().entered(run, after.state(), limit + 1).stream()
                .map(state -> new OfState(List.of(HistoryReader.event(state.entered())), state.number()))
                .toList());
    }

    /** All but the states, by time; what happened at one instant is in the order of {@link HistoryReader#read}. */
    private Deque<Item> events(RunRef run, HistoryPlace after, Journals.TimedPage journal) {
        Stream<Item> answers = reader.answers(run).stream()
                .skip(after.answers())
                .map(answer -> new OfOperator(List.of(HistoryReader.event(answer))));
        Stream<Item> entries = journal.entries().stream().map(timed -> item(run, timed));
        Stream<Item> open = reader.openProgress(run).stream()
                .filter(progress -> progress.at().isAfter(after.at()))
                .map(progress -> new OfOpenStep(List.of(progress)));
        return new ArrayDeque<>(Stream.of(answers, entries, open)
                .flatMap(items -> items)
                .sorted(Comparator.comparing((Item item) -> item.first().at()))
                .toList());
    }

    private Item item(RunRef run, Journals.Timed timed) {
        Entry entry = timed.recorded().entry();
        return new OfJournal(
                reader.events(run, timed.recorded(), timed.failedAttempts()),
                new TimePlace(timed.recorded().at(), entry.position(), entry.note()));
    }
}
