/** What every store must do with tasks that come after others. */
package dev.perdure.conformance.dag;
