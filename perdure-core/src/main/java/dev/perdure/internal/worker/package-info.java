/** The worker: its lease, its sessions, the dispatch of runs to it, and the store as its runs use it. */
package dev.perdure.internal.worker;
