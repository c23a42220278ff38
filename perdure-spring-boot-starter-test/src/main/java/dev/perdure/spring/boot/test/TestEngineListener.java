package dev.perdure.spring.boot.test;

import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestContextAnnotationUtils;
import org.springframework.test.context.support.AbstractTestExecutionListener;
import org.springframework.test.context.support.DependencyInjectionTestExecutionListener;

/** Ends the engine of a test after the test. The next one begins when it is first used. */
final class TestEngineListener extends AbstractTestExecutionListener {
    /** Before the listener that injects, and so after all others at the end of a test. */
    private static final int ORDER = DependencyInjectionTestExecutionListener.ORDER - 100;

    @Override
    public int getOrder() {
        return ORDER;
    }

    @Override
    public void afterTestMethod(TestContext test) {
        if (TestContextAnnotationUtils.hasAnnotation(test.getTestClass(), AutoConfigurePerdureTest.class)
                && test.hasApplicationContext()) {
            test.getApplicationContext().getBean(TestEngine.class).end();
            // An object of the test class that serves the next test, too, gets the next engine.
            test.setAttribute(DependencyInjectionTestExecutionListener.REINJECT_DEPENDENCIES_ATTRIBUTE, true);
        }
    }
}
