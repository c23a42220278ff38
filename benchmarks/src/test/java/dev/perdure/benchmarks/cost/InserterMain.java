package dev.perdure.benchmarks.cost;

import dev.perdure.benchmarks.process.ChildProcess;
import dev.perdure.benchmarks.process.Jvm;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;

/** A second process that inserts as many rows as a command says, on one connection. */
public final class InserterMain {
    private InserterMain() {}

    /** Arguments: the database (see {@link Jvm}). */
    public static void main(String... args) throws Exception {
        try (Connection connection = DriverManager.getConnection(
                        Jvm.database(args).countedUrl(),
                        Jvm.database(args).user(),
                        Jvm.database(args).password());
                Statement statement = connection.createStatement()) {
            ChildProcess.answer(command -> {
                for (int i = 0; i < Integer.parseInt(command); i++) {
                    statement.execute("INSERT INTO load (payload) VALUES ('x')");
                }
                return "inserted";
            });
        }
    }
}
