package dev.perdure.embedded;

import dev.perdure.embedded.EmbeddedPostgresException.Reason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Whom the server runs as. PostgreSQL refuses to run as root, and build machines and containers often are.
 *
 * <p>Then the server gets a user namespace of its own ({@code unshare -U}): there it is an ordinary user, to the
 * outside it still owns its files, and nothing has to be handed over. Where namespaces are forbidden, as in most
 * containers, root can still become somebody else ({@code setpriv}): user 65534, "nobody", or the one that the system
 * property {@value #UID_PROPERTY} names. The data folder is handed over to that user, and the binaries must lie where
 * he can read them, so not in root's home.
 */
record RunAs(List<String> prefix, String uid) {
    static final String UID_PROPERTY = "perdure.embedded.uid";

    private static final String OURSELVES = "";
    private static final String NOBODY = "65534";

    static RunAs current() {
        if (!root()) {
            return new RunAs(List.of(), OURSELVES);
        }
        var uid = System.getProperty(UID_PROPERTY);
        if (uid == null && works("unshare", "-U", "true")) {
            return new RunAs(List.of("unshare", "-U"), OURSELVES);
        }
        uid = uid == null ? NOBODY : uid;
        var prefix = List.of("setpriv", "--reuid=" + uid, "--regid=" + uid, "--clear-groups");
        if (works(with(prefix, "true"))) {
            return new RunAs(prefix, uid);
        }
        throw new EmbeddedPostgresException(
                Reason.ROOT,
                "PostgreSQL refuses to run as root, and here root can neither make a user namespace (unshare -U) nor "
                        + "become another user (setpriv --reuid=" + uid + "). Run this as an ordinary user.");
    }

    String[] command(String... command) {
        return with(prefix, command);
    }

    /** {@return the cache both we and the server's user can read} */
    Path cache(Platform platform) {
        return uid.equals(OURSELVES) || System.getProperty(Platform.CACHE_PROPERTY) != null
                ? platform.cache()
                : Path.of("/var/cache/perdure");
    }

    /** Hands the folder over to the server's user, if he is not us. */
    void own(Path folder) {
        if (!uid.equals(OURSELVES) && !works("chown", "-R", uid + ":" + uid, folder.toString())) {
            throw new EmbeddedPostgresException(
                    Reason.FOLDER_UNUSABLE,
                    "Cannot hand the folder " + folder + " over to user " + uid + ", as whom the server runs.");
        }
    }

    private static boolean root() {
        try {
            return Integer.valueOf(0).equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
        } catch (IOException e) {
            return System.getProperty("user.name", "").equals("root"); // macOS has no /proc.
        }
    }

    private static String[] with(List<String> prefix, String... command) {
        var all = new ArrayList<>(prefix);
        all.addAll(List.of(command));
        return all.toArray(String[]::new);
    }

    private static boolean works(String... command) {
        try {
            var process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(Redirect.DISCARD)
                    .start();
            process.getOutputStream().close();
            return process.waitFor(30, TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new UncheckedIOException(new IOException("interrupted while waiting for " + command[0], e));
        }
    }
}
