package dev.perdure.cli.output;

import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The terminal that shows the output. The script {@code ./perdure} measures it, because a JVM cannot; without the
 * script, or if the output goes to a file or a pipe, there is none.
 *
 * @param columns its width
 * @param rows its height
 */
record Terminal(int columns, int rows) {
    private static final String PROPERTY = "perdure.terminal";
    private static final Pattern SIZE = Pattern.compile("(\\d{2,4}) (\\d{2,4})"); // as stty prints it: rows, columns
    private static final String HOME = "\033[H";
    private static final String CLEAR_LINE = "\033[K";
    private static final String CLEAR_BELOW = "\033[J";

    static Optional<Terminal> current() {
        Matcher size = SIZE.matcher(System.getProperty(PROPERTY, ""));
        return size.matches()
                ? Optional.of(new Terminal(Integer.parseInt(size.group(2)), Integer.parseInt(size.group(1))))
                : Optional.empty();
    }

    String fit(String line) {
        return line.length() <= columns ? line : line.substring(0, columns - 1) + "…";
    }

    /** Replaces what the terminal shows. It clears each line after writing it, so that the screen is never empty. */
    String frame(List<String> lines) {
        StringBuilder frame = new StringBuilder(HOME);
        boolean all = lines.size() < rows;
        lines.stream()
                .limit(all ? rows : rows - 2)
                .forEach(line -> frame.append(fit(line)).append(CLEAR_LINE + "\n"));
        if (!all) {
            frame.append("… %s more lines".formatted(lines.size() - rows + 2)).append(CLEAR_LINE + "\n");
        }
        return frame.append(CLEAR_BELOW).toString();
    }
}
