package dev.perdure.benchmarks.cost;

import dev.perdure.benchmarks.process.Conversation;
import dev.perdure.benchmarks.process.Jvm;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;

/** A second process, which inserts as many rows as it is told, on one connection. */
public final class InserterMain {
    private InserterMain() {}

    /** Arguments: the database (see {@link Jvm}). */
    public static void main(String... args) throws Exception {
        try (Connection connection = DriverManager.getConnection(
                        Jvm.site(args).countedUrl(),
                        Jvm.site(args).user(),
                        Jvm.site(args).password());
                Statement statement = connection.createStatement()) {
            Conversation.answer(command -> {
                for (int i = 0; i < Integer.parseInt(command); i++) {
                    statement.execute("INSERT INTO load (payload) VALUES ('x')");
                }
                return "inserted";
            });
        }
    }
}
