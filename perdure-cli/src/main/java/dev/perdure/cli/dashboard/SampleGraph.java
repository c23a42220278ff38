package dev.perdure.cli.dashboard;

import dev.perdure.dag.Dag;
import dev.perdure.error.TerminalException;

/** The nightly catalogue of the sample shop, as a DAG: three suppliers, one of whom sends bad data now and then. */
final class SampleGraph {
    /** Every so many catalogues one has bad data. */
    private static final int BAD = 3;

    static final Dag<Integer, String> CATALOGUE = Dag.of("catalogue", Integer.class, dag -> {
        var manifest = dag.task("manifest", task -> {
            SampleShop.work(300);
            return task.input();
        });
        var first = dag.after(manifest).task("fetch-a", (task, number) -> slowly(2_000, number));
        var second = dag.after(manifest).task("fetch-b", (task, number) -> slowly(4_500, number));
        var third = dag.after(manifest).task("fetch-c", (task, number) -> slowly(1_200, number));
        var index = dag.after(third)
                .task("index-c", (task, number) -> indexed(number))
                .retry(2);
        var validate = dag.after(first, second).task("validate", (task, a, b) -> slowly(3_000, a));
        var prices = dag.after(second, third).task("prices", (task, b, c) -> slowly(900, b));
        var merge = dag.after(validate, prices).task("merge", (task, valid, priced) -> slowly(1_500, valid));
        return dag.after(merge, index).task("publish", (task, merged, indexed) -> "catalogue-" + merged);
    });

    private SampleGraph() {}

    private static int slowly(int millis, int number) {
        SampleShop.work(millis);
        return number;
    }

    private static int indexed(int number) {
        SampleShop.work(600);
        if (number % BAD == 0) {
            throw new TerminalException("Supplier c sent a name of 63 characters; 40 are allowed.");
        }
        return number;
    }
}
