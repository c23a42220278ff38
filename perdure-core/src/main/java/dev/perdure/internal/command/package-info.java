/** What callers outside runs write to the store: commands to runs, and mail. */
package dev.perdure.internal.command;
