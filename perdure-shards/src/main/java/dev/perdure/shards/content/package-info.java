/** What shards keep for each other: changes as bytes, and lists of what is below a run. */
package dev.perdure.shards.content;
