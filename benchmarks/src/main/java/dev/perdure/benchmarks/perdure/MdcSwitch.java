package dev.perdure.benchmarks.perdure;

import java.lang.reflect.Field;
import org.slf4j.MDC;
import org.slf4j.helpers.NOPMDCAdapter;
import org.slf4j.spi.MDCAdapter;

/**
 * Hides the MDC of the logging library until it is closed. An engine asks for it when it starts, so one that starts
 * meanwhile does not use it. Applications have no such switch; the benchmark compares both in one process.
 */
final class MdcSwitch implements AutoCloseable {
    private static final String ADAPTER = "MDC_ADAPTER";

    private final MDCAdapter before = MDC.getMDCAdapter();

    private MdcSwitch() {}

    static MdcSwitch on() {
        return new MdcSwitch();
    }

    static MdcSwitch off() {
        MdcSwitch off = new MdcSwitch();
        set(new NOPMDCAdapter());
        return off;
    }

    private static void set(MDCAdapter adapter) {
        try {
            Field field = MDC.class.getDeclaredField(ADAPTER);
            field.setAccessible(true);
            field.set(null, adapter);
        } catch (ReflectiveOperationException changed) {
            throw new IllegalStateException("This version of SLF4J keeps its MDC elsewhere.", changed);
        }
    }

    @Override
    public void close() {
        set(before);
    }
}
