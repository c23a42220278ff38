package dev.perdure.torture.setup;

import dev.perdure.torture.work.WorkerMain;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** A process with a site of every kind, after a fail-over. It waits until it is killed. */
final class SiteHolder {
    private SiteHolder() {}

    /** Arguments: the folder for logs. */
    public static void main(String... arguments) throws Exception {
        Site site = new Site(new Site.Setup(
                WorkerMain.class,
                1,
                List.of(),
                Path.of(arguments[0]),
                new Site.Server(Optional.of("512m"), true),
                Optional.empty(),
                42));
        boolean small = site.disk().isPresent();
        site.failOver();
        if (site.disk().isPresent() != small) {
            throw new IllegalStateException("The new primary has another kind of disk.");
        }
        System.out.println("ready");
        System.in.transferTo(System.out);
        site.close();
    }
}
