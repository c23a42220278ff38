package com.example;

import static dev.perdure.StartOptions.id;

import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.postgres.PostgresStore;
import org.postgresql.ds.PGSimpleDataSource;

public class Main {
    public static void main(String[] args) {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(args[0]);
        String email = args[1];

        Signup signup = new Signup((to, text) -> System.out.println("To " + to + ": " + text));
        try (PostgresStore store = PostgresStore.on(dataSource).open();
                Perdure perdure = Perdure.on(store).register(signup).start()) {
            Run<String> run = perdure.start(Signup::welcome, email, id("signup-" + email));
            System.out.println("Run " + run.id() + " is durable. Kill me, and start me again.");
            System.out.println(run.result()); // in three days
        }
    }
}
