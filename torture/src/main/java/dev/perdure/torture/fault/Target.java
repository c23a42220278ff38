package dev.perdure.torture.fault;

import dev.perdure.Perdure;
import dev.perdure.torture.setup.Site;
import dev.perdure.torture.work.Workload.Parts;

/**
 * What faults happen to.
 *
 * @param site the servers, the proxy and the workers
 * @param client starts runs and cancels them
 * @param parts what definitions need
 * @param crowd how many runs a worker has that dies with very many
 */
public record Target(Site site, Perdure client, Parts parts, int crowd) {}
