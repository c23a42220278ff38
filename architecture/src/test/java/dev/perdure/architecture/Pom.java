package dev.perdure.architecture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathExpressionException;
import javax.xml.xpath.XPathFactory;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/** A {@code pom.xml} as it is written, without what it inherits. */
record Pom(Path file, Document content) {
    static final Path ROOT = Path.of("").toAbsolutePath().getParent();

    static Pom of(Path file) {
        try {
            return new Pom(
                    file,
                    DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile()));
        } catch (IOException | SAXException | ParserConfigurationException e) {
            throw new IllegalStateException("Cannot read " + file, e);
        }
    }

    static Pom root() {
        return of(ROOT.resolve("pom.xml"));
    }

    /** All of them, also those that do not have our parent. */
    static List<Pom> all() {
        try (Stream<Path> files = Files.walk(ROOT, 3)) {
            return files.filter(file -> file.endsWith("pom.xml"))
                    .filter(file -> !file.toString().contains("/target/"))
                    .sorted()
                    .map(Pom::of)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The modules whose jars are published. */
    static List<Pom> published() {
        return root().texts("/project/modules/module").stream()
                .map(module -> of(ROOT.resolve(module).resolve("pom.xml")))
                .filter(pom -> pom.text("/project/properties/maven.deploy.skip").isEmpty())
                .filter(pom -> pom.text("/project/packaging").isEmpty())
                .toList();
    }

    /** What an XPath expression finds first. */
    Optional<String> text(String path) {
        return texts(path).stream().findFirst();
    }

    List<String> texts(String path) {
        XPath paths = XPathFactory.newInstance().newXPath();
        try {
            NodeList found = (NodeList) paths.evaluate(path, content, XPathConstants.NODESET);
            List<String> texts = new ArrayList<>();
            for (int i = 0; i < found.getLength(); i++) {
                texts.add(found.item(i).getTextContent().strip());
            }
            return texts;
        } catch (XPathExpressionException e) {
            throw new IllegalArgumentException(path, e);
        }
    }

    String artifact() {
        return text("/project/artifactId").orElseThrow();
    }

    @Override
    public String toString() {
        return ROOT.relativize(file).toString();
    }
}
