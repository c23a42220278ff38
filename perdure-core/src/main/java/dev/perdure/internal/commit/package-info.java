/** Group commit: many changes, one transaction, one acknowledgement each. */
package dev.perdure.internal.commit;
