// Package store keeps what a proxy remembers: the states of the nets, the record
// of decisions, and who may run what. It implements admission.Ledger.
package store
