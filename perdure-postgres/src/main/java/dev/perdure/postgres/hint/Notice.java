package dev.perdure.postgres.hint;

import dev.perdure.RunId;
import dev.perdure.spi.Hints.CallsWait;
import dev.perdure.spi.Hints.Hint;
import dev.perdure.spi.Hints.LeaseInDoubt;
import dev.perdure.spi.Hints.MailArrived;
import dev.perdure.spi.Hints.OutgoingKept;
import dev.perdure.spi.Hints.PartitionsMoved;
import dev.perdure.spi.Hints.RunEnded;
import dev.perdure.spi.Hints.RunShows;
import dev.perdure.spi.Hints.WorkReady;
import dev.perdure.spi.Hints.WorkerSignalled;
import dev.perdure.spi.change.WorkerId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Hints as the text of a notification: the sender in the first line, so that a process ignores its own notifications,
 * then one hint per line. Ids have no control characters, so they have no line breaks. A store also tells the other
 * stores that callers wait in its process: see {@link WaitingCallers}.
 */
public final class Notice {
    /** PostgreSQL allows 7,999 bytes; a character has up to three of them (and two have four). */
    private static final int MOST_CHARACTERS = 2_600;
    /** Further hints are dropped: a process that gets this many polls the database anyway. */
    private static final int MOST_NOTICES = 16;

    /** Callers wait in the process that sends this. */
    public static final String WATCHING = "watching";

    /** Workers of the process that sends this have registered their backend. */
    static final String REGISTERED = "registered";

    private Notice() {}

    /**
     * The content of a notification from another sender.
     *
     * @param hints the hints for the listeners here
     * @param watching whether callers wait in the sending process
     * @param registered whether workers of the sending process have registered their backend
     */
    public record Heard(List<Hint> hints, boolean watching, boolean registered) {}

    public static List<String> written(String sender, Collection<String> lines) {
        List<String> notices = new ArrayList<>();
        StringBuilder notice = new StringBuilder(sender);
        for (String line : lines) {
            if (notice.length() + line.length() + 1 > MOST_CHARACTERS) {
                notices.add(notice.toString());
                notice = new StringBuilder(sender);
            }
            notice.append('\n').append(line);
        }
        notices.add(notice.toString());
        return notices.subList(0, Math.min(notices.size(), MOST_NOTICES));
    }

    public static String line(Hint hint) {
        return switch (hint) {
            case WorkReady() -> "ready";
            case WorkerSignalled(WorkerId worker) -> "worker " + worker;
            case MailArrived mail ->
                "mail %s %s %s %s %s".formatted(mail.worker(), mail.run(), mail.epoch(), mail.wakes(), mail.mails());
            case RunEnded(RunId run) -> "ended " + run;
            case RunShows(RunId run) -> "shows " + run;
            case LeaseInDoubt() -> "lease";
            case OutgoingKept() -> "outgoing";
            case CallsWait() -> "calls";
            case PartitionsMoved() -> "moved";
        };
    }

    /** Reads a notification of another sender. Ignores what a newer version may have added. */
    public static Heard read(String self, String text) {
        List<String> lines = text.lines().toList();
        if (lines.isEmpty() || lines.get(0).equals(self)) {
            return new Heard(List.of(), false, false);
        }
        List<Hint> hints = lines.stream()
                .skip(1)
                .map(Notice::hint)
                .flatMap(Optional::stream)
                .toList();
        return new Heard(hints, lines.contains(WATCHING), lines.contains(REGISTERED));
    }

    private static Optional<Hint> hint(String line) {
        int space = line.indexOf(' ');
        String word = space < 0 ? line : line.substring(0, space);
        String rest = line.substring(space + 1);
        try {
            return switch (word) {
                case "ready" -> Optional.of(new WorkReady());
                case "worker" -> Optional.of(new WorkerSignalled(new WorkerId(UUID.fromString(rest))));
                case "mail" -> Optional.of(mail(rest.split(" ")));
                case "ended" -> Optional.of(new RunEnded(RunId.of(rest)));
                case "shows" -> Optional.of(new RunShows(RunId.of(rest)));
                case "lease" -> Optional.of(new LeaseInDoubt());
                case "moved" -> Optional.of(new PartitionsMoved());
                default -> Optional.empty();
            };
        } catch (RuntimeException malformed) {
            return Optional.empty();
        }
    }

    private static MailArrived mail(String[] words) {
        return new MailArrived(
                new WorkerId(UUID.fromString(words[0])),
                Long.parseLong(words[1]),
                Long.parseLong(words[2]),
                Integer.parseInt(words[3]),
                Long.parseLong(words[4]),
                null);
    }
}
