/** What can be run: definitions from annotated methods, from values, and from method references. */
package dev.perdure.internal.definition;
