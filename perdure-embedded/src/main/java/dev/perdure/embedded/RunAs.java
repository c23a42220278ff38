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
 * The user as whom the server runs. PostgreSQL refuses to run as root, but build machines and containers often run as
 * root.
 *
 * <p>If the JVM runs as root, the server gets its own user namespace ({@code unshare -U}). Inside it the server is an
 * ordinary user. Outside it the server still owns its files, so no owner has to change. Where namespaces are forbidden,
 * as in most containers, the server runs as another user ({@code setpriv}): user 65534, "nobody", or the one in the
 * system property {@value #UID_PROPERTY}. Then the data folder gets that owner, and the binaries must be where that
 * user can read them, so not in root's home.
 */
record RunAs(List<String> prefix, String uid) {
    static final String UID_PROPERTY = "perdure.embedded.uid";

    private static final String SAME_USER = "";
    private static final String NOBODY = "65534";

    static RunAs current() {
        if (!root()) {
            return new RunAs(List.of(), SAME_USER);
        }
        var uid = System.getProperty(UID_PROPERTY);
        if (uid == null && works("unshare", "-U", "true")) {
            return new RunAs(List.of("unshare", "-U"), SAME_USER);
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

    /** {@return a cache folder that both this JVM and the server's user can read} */
    Path cache(Platform platform) {
        return uid.equals(SAME_USER) || System.getProperty(Platform.CACHE_PROPERTY) != null
                ? platform.cache()
                : Path.of("/var/cache/perdure");
    }

    /** Makes the server's user the owner of the folder, unless the server runs as the user of this JVM. */
    void own(Path folder) {
        if (!uid.equals(SAME_USER) && !works("chown", "-R", uid + ":" + uid, folder.toString())) {
            throw new EmbeddedPostgresException(
                    Reason.FOLDER_UNUSABLE,
                    "Cannot make user " + uid + ", as whom the server runs, the owner of the folder " + folder + ".");
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
