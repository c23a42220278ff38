package dev.perdure.torture.soak;

/** In what a figure is counted, and how much it may differ without being called growth: a tenth, and so much more. */
enum Unit {
    /** Bytes of a table or of an index, which grow by pages and shrink only at their ends. */
    STORED(256 * 1024, true),
    /** Bytes of memory. */
    MEMORY(4 * 1024 * 1024, true),
    /** Rows of a table. */
    ROWS(50, false),
    /** Threads, connections, open files. */
    COUNT(3, false);

    private static final int SHARE = 10;
    private static final int KIB = 1024;

    private final long allowance;
    private final boolean bytes;

    Unit(long allowance, boolean bytes) {
        this.allowance = allowance;
        this.bytes = bytes;
    }

    /** The most that is as flat as this. */
    long most(long before) {
        return before + before / SHARE + allowance;
    }

    /** For a person to read. */
    String text(long value) {
        return bytes ? "%,d kB".formatted(value / KIB) : "%,d".formatted(value);
    }
}
