/** Hints for native images. No test builds one. */
@NullMarked
package dev.perdure.spring.boot.aot;

import org.jspecify.annotations.NullMarked;
