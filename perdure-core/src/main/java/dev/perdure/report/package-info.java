/** What the bodies of steps report while they run, as callers outside read it. */
package dev.perdure.report;
