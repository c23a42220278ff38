package dev.perdure.torture.fault;

import dev.perdure.torture.setup.Site;
import java.util.Random;

/** Something that is done to the site. */
@FunctionalInterface
interface Fault {
    /** Does it, for as long as it takes, and undoes what does not pass by itself. */
    void strike(Site site, Random chance) throws Exception;
}
