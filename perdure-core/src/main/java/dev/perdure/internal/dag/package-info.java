/** The functions of the runs of a DAG and of its tasks. */
package dev.perdure.internal.dag;
