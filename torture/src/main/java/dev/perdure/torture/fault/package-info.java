/** What is done to the workers, the connections and the server. */
@NullMarked
package dev.perdure.torture.fault;

import org.jspecify.annotations.NullMarked;
