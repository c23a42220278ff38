package dev.perdure.cli.output;

import java.util.List;
import java.util.Locale;

/**
 * A size: {@code 12.3 MB} as text, the number of bytes as JSON.
 *
 * @param count the number of bytes
 */
public record Bytes(long count) {
    private static final List<String> UNITS = List.of("B", "kB", "MB", "GB", "TB");
    private static final double STEP = 1024;

    @Override
    public String toString() {
        double size = count;
        int unit = 0;
        while (size >= STEP && unit < UNITS.size() - 1) {
            size /= STEP;
            unit++;
        }
        return unit == 0 ? count + " B" : String.format(Locale.ROOT, "%.1f %s", size, UNITS.get(unit));
    }
}
