package dev.perdure.torture;

import dev.perdure.spi.shard.Partitions;
import dev.perdure.torture.setup.OutsideLedger.Line;
import dev.perdure.torture.setup.Phase;
import dev.perdure.torture.work.Steps;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * Work whose runs are all in one partition, so that it shows whether that partition stands still.
 *
 * @param steps the work
 * @param partition its partition
 */
record OnePartition(Steps steps, int partition) {
    private static final String ROOT = "lane%d";

    /** So many lanes for each of so many shards, by the map with which shards begin. */
    static List<OnePartition> of(int shards, int each) {
        List<OnePartition> lanes = new ArrayList<>();
        for (int number = 0; lanes.size() < shards * each; number++) {
            String root = ROOT.formatted(number);
            int partition = Partitions.ofText(root);
            if (partition % shards == lanes.size() % shards
                    && lanes.stream().noneMatch(lane -> lane.partition == partition)) {
                lanes.add(new OnePartition(new Steps(root + "/steps"), partition));
            }
        }
        return lanes;
    }

    /** Its part of the ledger. */
    List<Line> of(List<Line> lines) {
        String prefix = steps.name() + "-";
        return lines.stream().filter(line -> line.run().startsWith(prefix)).toList();
    }

    /** The longest time in a phase in which no body of it ended. */
    Duration longestPause(List<Line> lines, Phase phase) {
        Duration longest = Duration.ZERO;
        Instant last = phase.from();
        for (Line line : of(lines)) {
            if (phase.has(line)) {
                longest = longer(longest, Duration.between(last, line.at()));
                last = line.at();
            }
        }
        return longer(longest, Duration.between(last, phase.until()));
    }

    private static Duration longer(Duration one, Duration other) {
        return one.compareTo(other) > 0 ? one : other;
    }
}
