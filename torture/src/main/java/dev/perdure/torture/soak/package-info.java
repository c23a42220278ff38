/** Work at a fixed rate without faults, and a judgement of what grows meanwhile: what {@code ./perdure torture soak} runs. */
@NullMarked
package dev.perdure.torture.soak;

import org.jspecify.annotations.NullMarked;
