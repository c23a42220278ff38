/** JSON as the default codec. */
package dev.perdure.internal.json;
