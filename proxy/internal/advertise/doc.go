// Package advertise shows each client the tools that the nets of its session would let
// pass now (tools/list), and tells it when they become others.
package advertise
