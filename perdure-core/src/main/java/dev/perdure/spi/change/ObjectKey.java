package dev.perdure.spi.change;

/**
 * Identifies a virtual object. Its exclusive calls are runs that hold it one at a time, in the order of their arrival.
 * A call that does not hold it yet is pending.
 *
 * @param type the name of the object's type
 * @param key the object's key
 */
public record ObjectKey(String type, String key) {}
