package dev.perdure.spi.change;

import static dev.perdure.spi.change.StartedFor.CHILD;
import static dev.perdure.spi.change.StartedFor.CONTINUE_AS_NEW;
import static dev.perdure.spi.change.StartedFor.DEBOUNCE;
import static dev.perdure.spi.change.StartedFor.FIRE;
import static dev.perdure.spi.change.StartedFor.FORK;
import static dev.perdure.spi.change.StartedFor.HANDLER;
import static dev.perdure.spi.change.StartedFor.ITEM;
import static dev.perdure.spi.change.StartedFor.REACTION;
import static dev.perdure.spi.change.StartedFor.RERUN;
import static dev.perdure.spi.change.StartedFor.RETRY;
import static dev.perdure.spi.change.StartedFor.SPAWN;
import static dev.perdure.spi.change.StartedFor.TASK;

import java.util.EnumMap;
import java.util.Map;

/**
 * The settings of a run, and for each of them from where a run has it that is started on behalf of another one. This is
 * the only place that says so: {@link NewRun#startedFor} copies what is inherited, and the guide shows the same table.
 */
public enum Setting {
    QUEUE(own(CHILD, SPAWN, REACTION, FIRE).inherited(TASK, ITEM, HANDLER, FORK).kept()),
    KEY(own(CHILD, SPAWN, FIRE).inherited(TASK, ITEM, HANDLER, FORK).kept()),
    PRIORITY(own(CHILD, SPAWN, FIRE)
            .ownOrInherited(TASK, ITEM)
            .inherited(HANDLER, FORK)
            .kept()),
    WEIGHT(own(CHILD, SPAWN, FIRE).inherited(TASK, ITEM, HANDLER, FORK).kept()),
    /** Which labels it requires and prefers. */
    PLACEMENT(own(CHILD, SPAWN, FIRE).inherited(TASK, ITEM, HANDLER, FORK).kept()),
    /** The version that it is pinned to. A child inherits it from a run of a pinned definition. */
    VERSION(own(SPAWN, FIRE)
            .ownOrInherited(CHILD)
            .inherited(TASK, ITEM, HANDLER)
            .kept()),
    TIMEOUT(own(FIRE).limited(CHILD, SPAWN, TASK, ITEM).inherited(FORK).kept()),
    /** The store lets the first tasks of a DAG wait for its delay. */
    DELAY(own(CHILD, SPAWN, DEBOUNCE)),
    START_WITHIN(own(CHILD, SPAWN, FIRE)),
    /** The key under which it was started. */
    START_KEY(own().kept()),
    ATTRIBUTES(own(CHILD, SPAWN, FIRE).inherited(FORK).kept()),
    MEMO(own(CHILD, SPAWN, FIRE).inherited(FORK).kept()),
    HEADERS(own().inherited(CHILD, SPAWN, TASK, ITEM, HANDLER, FORK).kept()),
    STATUS(own().inherited(FORK).kept());

    /** From where a run has a setting. */
    public enum Source {
        /** From the other run. */
        INHERITED("inherited"),
        /** From the options of its own start; otherwise the default. */
        OWN("own"),
        /** From the options of its own start; otherwise from the other run. */
        OWN_OR_INHERITED("own or inherited"),
        /** From the options of its own start, but it ends no later than that of the other run. */
        LIMITED("own and inherited"),
        /** The default. */
        DEFAULT("–");

        private final String title;

        Source(String title) {
            this.title = title;
        }

        /** What the documentation calls it. */
        public String title() {
            return title;
        }
    }

    private final Map<StartedFor, Source> sources;

    Setting(Sources sources) {
        this.sources = sources.all;
    }

    /** From where a run of this kind has this setting. */
    public Source of(StartedFor kind) {
        return sources.getOrDefault(kind, Source.DEFAULT);
    }

    /** One row of the table. */
    private static final class Sources {
        private final Map<StartedFor, Source> all = new EnumMap<>(StartedFor.class);

        private Sources in(Source source, StartedFor... kinds) {
            for (StartedFor kind : kinds) {
                all.putIfAbsent(kind, source);
            }
            return this;
        }

        private Sources inherited(StartedFor... kinds) {
            return in(Source.INHERITED, kinds);
        }

        private Sources ownOrInherited(StartedFor... kinds) {
            return in(Source.OWN_OR_INHERITED, kinds);
        }

        private Sources limited(StartedFor... kinds) {
            return in(Source.LIMITED, kinds);
        }

        /** The same run goes on. */
        private Sources kept() {
            return inherited(RETRY, RERUN, CONTINUE_AS_NEW, DEBOUNCE);
        }
    }

    private static Sources own(StartedFor... kinds) {
        return new Sources().in(Source.OWN, kinds);
    }
}
