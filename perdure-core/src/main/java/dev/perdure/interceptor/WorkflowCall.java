package dev.perdure.interceptor;

import dev.perdure.RunId;
import java.util.Map;

/**
 * A run whose code a worker enters.
 *
 * @param run its id
 * @param definition the name of its definition
 * @param queue its queue
 * @param worker the id of the worker, as {@link dev.perdure.version.WorkerInfo#id()} has it
 * @param replaying whether the journal answers the first calls of the code, because the code has made them before
 * @param headers the headers that the run was started with, by name
 */
public record WorkflowCall(
        RunId run, String definition, String queue, String worker, boolean replaying, Map<String, String> headers) {}
