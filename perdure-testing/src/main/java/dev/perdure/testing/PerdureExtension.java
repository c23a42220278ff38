package dev.perdure.testing;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives tests a {@link PerdureTest} of their own and closes it afterwards.
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
    public PerdureTest resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return context.getStore(NAMESPACE)
                .computeIfAbsent(PerdureTest.class, unseen -> PerdureTest.create(), PerdureTest.class);
    }
}
