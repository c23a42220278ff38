package dev.perdure.testing;

import java.util.Objects;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives each test its own {@link PerdureTest} and closes it afterwards. Works with JUnit 5.12 and later.
 *
 * <pre>{@code
 * @ExtendWith(PerdureExtension.class)
 * class OrdersTest {
 *     @Test
 *     void ships(PerdureTest perdure) { … }
 * }
 * }</pre>
 */
public final class PerdureExtension implements ParameterResolver {
    private static final Namespace NAMESPACE = Namespace.create(PerdureExtension.class);

    /** For JUnit. */
    public PerdureExtension() {}

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == PerdureTest.class;
    }

    @Override
    @SuppressWarnings("deprecation") // the name that JUnit 5.12 has, too
    public PerdureTest resolveParameter(ParameterContext parameter, ExtensionContext context) {
        Owned owned = context.getStore(NAMESPACE)
                .getOrComputeIfAbsent(Owned.class, unseen -> new Owned(PerdureTest.create()), Owned.class);
        return Objects.requireNonNull(owned).perdure();
    }

    /** JUnit 5.12 closes only a {@code CloseableResource}, later versions prefer an {@code AutoCloseable}. */
    @SuppressWarnings("deprecation")
    private record Owned(PerdureTest perdure) implements AutoCloseable, Store.CloseableResource {
        @Override
        public void close() {
            perdure.close();
        }
    }
}
