package dev.perdure.internal.reencryption;

import dev.perdure.RunId;
import dev.perdure.internal.dag.RunNames;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Recorded;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.payload.PayloadPlace;
import dev.perdure.spi.payload.StoredValues.Site;
import java.util.ArrayList;
import java.util.List;

/**
 * The places for which a stored value can have been made. A run knows the place of a value that it reads; a row does
 * not. A wrong place does no harm: the value tells that it was made for another one.
 */
final class PossiblePlaces {
    private static final int ONE_POSITION = 1;

    private final Runs runs;
    private final Journals journals;

    PossiblePlaces(Runs runs, Journals journals) {
        this.runs = runs;
        this.journals = journals;
    }

    List<PayloadPlace> of(Site site) {
        return switch (site) {
            case Site.Input(RunId run) -> ofInput(run);
            case Site.Result(RunId run) -> List.of(PayloadPlace.result(run));
            case Site.Position position -> ofPosition(position);
            case Site.Mailed(RunId run, Channel channel) -> ofMail(run, channel);
            case Site.Published(RunId run, String topic) -> List.of(PayloadPlace.published(run, topic));
            case Site.Attribute(RunId run, String name) -> List.of(PayloadPlace.attribute(run, name));
            case Site.State state ->
                List.of(PayloadPlace.state(state.object().type(), state.object().key(), state.name()));
        };
    }

    /** A task has the input of its DAG's run, and a debounced start does not know which run it becomes. */
    private static List<PayloadPlace> ofInput(RunId run) {
        List<PayloadPlace> places = new ArrayList<>(List.of(PayloadPlace.input(run), PayloadPlace.debounced()));
        if (RunNames.mayBeTask(run)) {
            places.add(PayloadPlace.input(RunNames.dagRunOf(run)));
        }
        return places;
    }

    /** A call of an object records states with their own places, and a schedule its state as its next input. */
    private static List<PayloadPlace> ofPosition(Site.Position site) {
        List<PayloadPlace> places = new ArrayList<>(
                List.of(PayloadPlace.entry(site.run(), site.position()), PayloadPlace.input(site.run())));
        if (site.object() != null) {
            places.add(PayloadPlace.state(site.object().type(), site.object().key(), site.name()));
        }
        return places;
    }

    private List<PayloadPlace> ofMail(RunId run, Channel channel) {
        return switch (channel.kind()) {
            case MESSAGE -> List.of(PayloadPlace.message(run, channel.name()));
            case PROMISE -> List.of(PayloadPlace.promise(run, channel.name()));
            case ANSWER -> ofAnswer(run, channel.position());
        };
    }

    /** The answer to an awakeable is made for itself, a child's outcome for the child, an event for its name. */
    private List<PayloadPlace> ofAnswer(RunId run, int position) {
        List<PayloadPlace> places = new ArrayList<>(List.of(PayloadPlace.answer(run, position)));
        runs.find(run)
                .map(Runs.Found::ref)
                .ifPresent(ref -> notes(ref, position).forEach(note -> {
                    note.started().map(PayloadPlace::result).ifPresent(places::add);
                    if (note.kind() == Entry.Kind.EVENT) {
                        places.addAll(ofEvent(note.name()));
                    }
                }));
        return places;
    }

    private List<Entry> notes(RunRef run, int position) {
        return journals.read(run, position - 1, ONE_POSITION).entries().stream()
                .map(Recorded::entry)
                .filter(entry -> entry.position() == position && entry.status() == Entry.Status.BEGUN)
                .toList();
    }

    /** The name of an entry has the name of the event and, after a slash, its key. Both may have slashes. */
    private static List<PayloadPlace> ofEvent(String nameAndKey) {
        List<PayloadPlace> places = new ArrayList<>(List.of(PayloadPlace.event(nameAndKey)));
        for (int slash = nameAndKey.indexOf('/'); slash > 0; slash = nameAndKey.indexOf('/', slash + 1)) {
            places.add(PayloadPlace.event(nameAndKey.substring(0, slash)));
        }
        return places;
    }
}
