/** A DAG as it is defined: what the public builder collects, and what the engine runs. */
package dev.perdure.internal.dag.model;
