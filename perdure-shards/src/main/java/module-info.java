import org.jspecify.annotations.NullMarked;

/** A store that divides its runs among several other stores. */
@NullMarked
module dev.perdure.shards {
    requires transitive dev.perdure;
    requires org.slf4j;

    exports dev.perdure.shards;
}
