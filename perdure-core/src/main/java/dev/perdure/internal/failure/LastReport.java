package dev.perdure.internal.failure;

import org.jspecify.annotations.Nullable;

/**
 * What attempts at a step had reported when one of them failed. It is recorded with the failure.
 *
 * @param fraction the part of the work that the failed attempt had done, from 0 to 1; null if it did not say
 * @param message what the failed attempt said about its progress; null if it reported no progress
 * @param version the version of the latest heartbeat with a value, of this attempt or an earlier one; 0 if there is none
 * @param heartbeat the encoded value of that heartbeat; null if there is none
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record LastReport(
        @Nullable Double fraction, @Nullable String message, long version, byte @Nullable [] heartbeat) {}
