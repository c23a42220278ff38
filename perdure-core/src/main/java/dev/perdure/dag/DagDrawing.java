package dev.perdure.dag;

import dev.perdure.RunState;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A graph to look at: its definition, or a run with its states.
 *
 * @param title what it is
 * @param nodes its tasks, each after those it comes after
 */
record DagDrawing(String title, List<Node> nodes) {
    /**
     * A task.
     *
     * @param name its name
     * @param state where it is; null for a definition
     * @param after what it comes after
     * @param note what else there is to say
     */
    record Node(String name, @Nullable RunState state, List<String> after, String note) {}

    String text() {
        int widest = nodes.stream().mapToInt(node -> node.name().length()).max().orElse(0);
        return nodes.stream().map(node -> line(node, widest)).collect(Collectors.joining("\n", title + "\n", "\n"));
    }

    private static String line(Node node, int widest) {
        StringBuilder line = new StringBuilder("  ").append(padded(node.name(), widest));
        if (node.state() != null) {
            line.append("  ")
                    .append(padded(
                            node.state().name(), RunState.BACKING_OFF.name().length()));
        }
        if (!node.after().isEmpty()) {
            line.append("  after ").append(String.join(", ", node.after()));
        }
        if (!node.note().isEmpty()) {
            line.append("  (").append(node.note()).append(')');
        }
        return line.toString().stripTrailing();
    }

    private static String padded(String text, int width) {
        return text + " ".repeat(Math.max(0, width - text.length()));
    }

    String mermaid() {
        Map<String, Integer> numbers = numbers();
        StringBuilder chart = new StringBuilder("flowchart TD\n");
        for (Node node : nodes) {
            chart.append("    t%d[\"%s\"]\n".formatted(numbers.get(node.name()), label(node, "<br/>", "#quot;")));
        }
        for (Node node : nodes) {
            for (String parent : node.after()) {
                chart.append("    t%d --> t%d\n".formatted(numbers.get(parent), numbers.get(node.name())));
            }
        }
        return chart.toString();
    }

    String graphviz() {
        Map<String, Integer> numbers = numbers();
        StringBuilder graph = new StringBuilder("digraph \"%s\" {\n".formatted(quoted(title, "\\\"")));
        for (Node node : nodes) {
            graph.append("    t%d [label=\"%s\"];\n".formatted(numbers.get(node.name()), label(node, "\\n", "\\\"")));
        }
        for (Node node : nodes) {
            for (String parent : node.after()) {
                graph.append("    t%d -> t%d;\n".formatted(numbers.get(parent), numbers.get(node.name())));
            }
        }
        return graph.append("}\n").toString();
    }

    /** Names may hold what these languages do not take in an identifier. */
    private Map<String, Integer> numbers() {
        Map<String, Integer> numbers = new HashMap<>();
        nodes.forEach(node -> numbers.put(node.name(), numbers.size() + 1));
        return numbers;
    }

    private static String label(Node node, String newLine, String quote) {
        String name = quoted(node.name(), quote);
        return node.state() == null ? name : name + newLine + node.state();
    }

    private static String quoted(String text, String quote) {
        String escaped = quote.startsWith("\\") ? text.replace("\\", "\\\\") : text;
        return escaped.replace("\"", quote);
    }
}
