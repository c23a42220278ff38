/** Virtual objects: durable state under a key, with one exclusive call at a time. */
package dev.perdure.object;
