package dev.perdure.benchmarks.report;

/** The unit of a figure, and whether more is better. */
public enum Unit {
    PER_SECOND("/s", true),
    MICROSECONDS("µs", false),
    MILLISECONDS("ms", false),
    SECONDS("s", false),
    BYTES("bytes", false),
    COUNT("count", false),
    PERCENT("%", false),
    RATIO("ratio", true);

    private final String text;
    private final boolean moreIsBetter;

    Unit(String text, boolean moreIsBetter) {
        this.text = text;
        this.moreIsBetter = moreIsBetter;
    }

    public String text() {
        return text;
    }

    public boolean moreIsBetter() {
        return moreIsBetter;
    }
}
