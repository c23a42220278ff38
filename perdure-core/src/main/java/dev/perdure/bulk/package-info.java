/** The runs that a filter selects: looked at, or changed all at once by a bulk action. */
package dev.perdure.bulk;
