package dev.perdure.embedded;

import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The address and login of one database of an embedded server.
 *
 * @param name the database's name
 * @param jdbcUrl its address, without user and password
 * @param user the user, a superuser of this server
 * @param password the user's password
 */
public record Database(String name, String jdbcUrl, String user, String password) {
    static final String USER = "postgres";

    static Database at(int port, String name, String password) {
        return new Database(name, "jdbc:postgresql://127.0.0.1:" + port + "/" + name, USER, password);
    }

    /** {@return a data source without a pool: it opens a new connection at every call} */
    public DataSource dataSource() {
        var dataSource = new PGSimpleDataSource();
        dataSource.setUrl(jdbcUrl);
        dataSource.setUser(user);
        dataSource.setPassword(password);
        return dataSource;
    }

    /** The URL, without the password. */
    @Override
    public String toString() {
        return "Database[" + jdbcUrl + "]";
    }
}
