/** Large payloads in a folder, for development. */
package dev.perdure.folder;
