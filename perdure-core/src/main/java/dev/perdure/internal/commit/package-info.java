/** Group commit (many changes, one transaction, an outcome for each), and the reports about failures of the store. */
package dev.perdure.internal.commit;
