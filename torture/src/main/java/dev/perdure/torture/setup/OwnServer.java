package dev.perdure.torture.setup;

import dev.perdure.embedded.EmbeddedPostgres;
import dev.perdure.embedded.Options;
import java.util.Optional;

/** A server with a folder of its own, which is deleted with it. */
record OwnServer(EmbeddedPostgres postgres, ServerFolder folder) implements AutoCloseable {
    /** Fills a folder for a server that is not there yet. */
    @FunctionalInterface
    interface Filling {
        void fill(ServerFolder folder) throws Exception;
    }

    /** Starts one with an empty folder. */
    static OwnServer start(Options options, Optional<String> diskSize) throws Exception {
        return start(options, diskSize, empty -> {});
    }

    /** Starts one with a folder that is filled first. If that fails, no folder is left. */
    static OwnServer start(Options options, Optional<String> diskSize, Filling filling) throws Exception {
        ServerFolder folder = ServerFolder.create(diskSize);
        try {
            filling.fill(folder);
            return new OwnServer(EmbeddedPostgres.start(options.dataFolder(folder.path())), folder);
        } catch (Exception failed) {
            folder.close();
            throw failed;
        }
    }

    @Override
    public void close() {
        postgres.close();
        folder.close();
    }
}
