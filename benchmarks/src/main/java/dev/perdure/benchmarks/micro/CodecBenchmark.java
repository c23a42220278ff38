package dev.perdure.benchmarks.micro;

import dev.perdure.internal.json.JsonCodec;
import dev.perdure.spi.change.Payload;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Encodes and decodes a step's result. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class CodecBenchmark {
    /** A typical result of a step. */
    public record Receipt(String id, long cents, Instant at, List<String> lines) {}

    private final JsonCodec codec = new JsonCodec();
    private final Receipt receipt = new Receipt("pay-42", 4_200, Instant.EPOCH, List.of("one", "two"));
    private final Payload payload = codec.encode(receipt, Receipt.class);

    @Benchmark
    public Object encode() {
        return codec.encode(receipt, Receipt.class);
    }

    @Benchmark
    public Object decode() {
        return codec.decode(payload, Receipt.class);
    }

    @Benchmark
    public Object encodeAndVerify() {
        return codec.verify(receipt, codec.encode(receipt, Receipt.class), Receipt.class);
    }
}
