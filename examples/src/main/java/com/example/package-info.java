/** The project of {@code docs/start.md}, file by file as a newcomer types it. */
@NullMarked
package com.example;

import org.jspecify.annotations.NullMarked;
