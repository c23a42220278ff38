/** Who has changed what by hand: the audit of commands. */
package dev.perdure.audit;
