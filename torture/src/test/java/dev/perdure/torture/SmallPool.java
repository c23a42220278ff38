package dev.perdure.torture;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.torture.setup.Address;

/** Pools with few connections, of which a test may have several on one server. */
final class SmallPool {
    private static final int SIZE = 5;

    private SmallPool() {}

    static HikariDataSource of(String url, String user, String password) {
        return of(url, user, password, SIZE);
    }

    static HikariDataSource of(String url, String user, String password, int size) {
        return new Address(url, user, password).pool(size);
    }
}
