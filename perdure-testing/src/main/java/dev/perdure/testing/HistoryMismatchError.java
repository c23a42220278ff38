package dev.perdure.testing;

import java.util.List;
import java.util.stream.Collectors;

/** The code does not fit the history of a run. The message has the first difference of each such history. */
public final class HistoryMismatchError extends AssertionError {
    private static final long serialVersionUID = 1L;
    private static final int SHOWN = 20;

    @SuppressWarnings("serial") // a list of texts that is serializable
    private final List<String> differences;

    HistoryMismatchError(List<String> differences, int checked) {
        super("%s of %s histories do not fit this code:%s%s"
                .formatted(
                        differences.size(),
                        checked,
                        differences.stream()
                                .limit(SHOWN)
                                .map(each -> "\n- " + each)
                                .collect(Collectors.joining()),
                        differences.size() <= SHOWN ? "" : "\n- and %s more".formatted(differences.size() - SHOWN)));
        this.differences = List.copyOf(differences);
    }

    /** The first difference of each history that the code does not fit. */
    public List<String> differences() {
        return differences;
    }
}
