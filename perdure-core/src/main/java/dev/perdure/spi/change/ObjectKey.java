package dev.perdure.spi.change;

/**
 * Names a virtual object. Its exclusive calls are runs that hold it one after the other, in the order of their arrival; one that
 * does not hold it yet is pending.
 *
 * @param type the name of the kind of object
 * @param key which one
 */
public record ObjectKey(String type, String key) {}
