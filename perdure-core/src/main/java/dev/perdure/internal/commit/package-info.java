/** Group commit (many changes, one transaction, one acknowledgement each), and how trouble of the store is reported. */
package dev.perdure.internal.commit;
