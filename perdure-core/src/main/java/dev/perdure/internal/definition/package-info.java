/** The definitions that an engine can run: from annotated methods, from values, and from method references. */
package dev.perdure.internal.definition;
