/** Reactions: workflows that are started when other runs fail, are paused or cancelled, or are late. */
package dev.perdure.reaction;
