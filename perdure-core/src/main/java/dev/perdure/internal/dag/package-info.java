/** DAGs of tasks: what their runs do. */
package dev.perdure.internal.dag;
