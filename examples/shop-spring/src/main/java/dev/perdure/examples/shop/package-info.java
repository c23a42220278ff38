/**
 * A shop: an order over HTTP starts a workflow that reserves goods in the shop's own tables, waits for the payment
 * provider's webhook, and sends the parcel, or undoes what it did.
 */
package dev.perdure.examples.shop;
