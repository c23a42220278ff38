/** What the starter and the test starter share. No API for applications. */
@NullMarked
package dev.perdure.spring.boot.internal;

import org.jspecify.annotations.NullMarked;
