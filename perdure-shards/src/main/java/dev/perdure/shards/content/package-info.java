/** What shards keep: changes for other shards as bytes, and shares of limits as settings. */
package dev.perdure.shards.content;
