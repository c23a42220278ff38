package dev.perdure.internal.engine;

import dev.perdure.spi.Store;
import java.lang.reflect.Proxy;

/** Stores that are like another in all but one part. */
final class Stores {
    private Stores() {}

    /**
     * Puts something else in the place of a part.
     *
     * @param part what the store calls it, such as {@code ledger}
     */
    static Store with(Store store, String part, Object instead) {
        return (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(),
                new Class<?>[] {Store.class},
                (self, method, arguments) -> method.getName().equals(part) ? instead : method.invoke(store, arguments));
    }
}
