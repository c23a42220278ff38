/** What runs are found by: attributes with their values, and conditions on them. */
package dev.perdure.attribute;
