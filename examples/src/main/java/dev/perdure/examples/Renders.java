package dev.perdure.examples;

import static dev.perdure.StartOptions.id;

import dev.perdure.Child;
import dev.perdure.ChildOptions;
import dev.perdure.ChildOptions.Sticky;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.Run;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.spi.Store;

/** Renders films on workers that have a graphics card, and cuts a trailer where the frames are. */
public final class Renders {
    /** A film. */
    public record Film(String name, String region) {}

    /** Renders frames into a local folder, and cuts what is there. */
    public interface Studio {
        /** Renders all frames of a film. */
        void frames(String film);

        /** Cuts a trailer, and returns its name. It reads the frames again if they are not in the local folder. */
        String trailer(String film);
    }

    private final Studio studio;

    /** Renders in this studio. */
    public Renders(Studio studio) {
        this.studio = studio;
    }

    // region labels
    /** Sets up a worker on a machine with a graphics card and this much memory, in gigabytes. */
    public static PerdureBuilder worker(Store store, Studio studio, int memory) {
        return Perdure.on(store)
                .register(new Renders(studio))
                .label("gpu", "true")
                .label("memory", String.valueOf(memory))
                .label("region", "eu");
    }
    // endregion

    // region requires
    /** Starts to render a film: only on a machine that can, and in the region of the film if possible. */
    public static Run<String> start(Perdure perdure, Film film) {
        return perdure.start(
                Renders::render,
                film,
                id("render-" + film.name()).requires("gpu=true", "memory>=16").prefers("region=" + film.region()));
    }
    // endregion

    // region sticky
    /** Renders the frames, and then cuts the trailer on the same worker, which has the frames in its folder. */
    @Workflow("render")
    public String render(WorkflowContext ctx, Film film) {
        ctx.step("frames", () -> studio.frames(film.name()));
        Child<String> trailer = ctx.startChild(
                Invocation.of(Renders::trailer, film.name()),
                ChildOptions.defaults().sticky(Sticky.SOFT));
        return trailer.await();
    }
    // endregion

    /** Cuts a trailer. */
    @Workflow("trailer")
    public String trailer(WorkflowContext ctx, String film) {
        return ctx.step("trailer", () -> studio.trailer(film));
    }
}
