package dev.perdure.examples;

import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.Run;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.folder.FolderPayloads;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Store;
import java.nio.file.Path;

/** Reads scanned documents, which are large, and keeps the pages that have text. */
public final class Scans {
    /** A scanned document. */
    @SuppressWarnings("ArrayRecordComponent") // nothing compares scans
    public record Scan(String name, byte[] image) {}

    /** The device, and the service that recognises text. */
    public interface Office {
        /** Scans a document. */
        Scan scan(String name);

        /** Recognises the text of a scan. */
        String read(Scan scan);
    }

    private final Office office;

    /** Scans with these devices. */
    public Scans(Office office) {
        this.office = office;
    }

    // region workflow
    /** Scans a document and reads its text. The scan may have 60 MB; the journal has a reference to it. */
    @Workflow("scan")
    public String scan(WorkflowContext ctx, String name) {
        Scan scan = ctx.step("scan", () -> office.scan(name));
        return ctx.step("read", () -> office.read(scan));
    }
    // endregion

    // region limits
    /** An engine that stores values of up to 128 MiB, and those of more than 256 KiB apart from the journal. */
    public static PerdureBuilder withLargeValues(Store store) {
        return Perdure.on(store).maxPayloadBytes(128 * 1024 * 1024).maxInlineBytes(256 * 1024);
    }
    // endregion

    // region folder
    /** The same with large values in a folder, for development. */
    public static PerdureBuilder inFolder(Store store, Path folder) {
        return withLargeValues(store).payloadStore(FolderPayloads.in(folder));
    }
    // endregion

    /** Scans a document of 20 MB. */
    public static void main(String... args) {
        Office office = new Office() {
            @Override
            public Scan scan(String name) {
                return new Scan(name, new byte[20_000_000]);
            }

            @Override
            public String read(Scan scan) {
                return scan.name() + " has " + scan.image().length + " bytes and no text";
            }
        };
        try (Perdure perdure =
                withLargeValues(new MemoryStore()).register(new Scans(office)).start()) {
            Run<String> run = perdure.start(Scans::scan, "contract");
            System.out.println(run.result());
        }
    }
}
