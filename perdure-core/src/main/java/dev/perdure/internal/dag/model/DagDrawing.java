package dev.perdure.internal.dag.model;

import dev.perdure.RunState;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A picture of a DAG: of its definition, or of a run with the states of its tasks.
 *
 * @param title its first line
 * @param nodes its tasks, each after the tasks that it comes after
 */
public record DagDrawing(String title, List<Node> nodes) {
    /**
     * A task.
     *
     * @param name its name
     * @param state its state; null in a definition
     * @param after the tasks that it comes after
     * @param note more about it, or empty
     */
    public record Node(String name, @Nullable RunState state, List<String> after, String note) {}

    /** As lines of text. */
    public String text() {
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

    /** As a Mermaid flowchart. */
    public String mermaid() {
        Map<String, Integer> numbers = numbers();
        StringBuilder chart = new StringBuilder("flowchart TD\n");
        for (Node node : nodes) {
            chart.append("    t%s[\"%s\"]\n".formatted(numbers.get(node.name()), label(node, "<br/>", "#quot;")));
        }
        for (Node node : nodes) {
            for (String parent : node.after()) {
                chart.append("    t%s --> t%s\n".formatted(numbers.get(parent), numbers.get(node.name())));
            }
        }
        return chart.toString();
    }

    /** In the language of Graphviz. */
    public String graphviz() {
        Map<String, Integer> numbers = numbers();
        StringBuilder chart = new StringBuilder("digraph \"%s\" {\n".formatted(quoted(title, "\\\"")));
        for (Node node : nodes) {
            chart.append("    t%s [label=\"%s\"];\n".formatted(numbers.get(node.name()), label(node, "\\n", "\\\"")));
        }
        for (Node node : nodes) {
            for (String parent : node.after()) {
                chart.append("    t%s -> t%s;\n".formatted(numbers.get(parent), numbers.get(node.name())));
            }
        }
        return chart.append("}\n").toString();
    }

    /** Names may contain characters that these languages do not allow in an identifier. */
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
