// Package control is the socket by which an operator reaches running proxies:
// HTTP and JSON over a Unix socket of mode 0600 in a directory of mode 0700.
// Whoever can open it is the operator; no client of a proxy can.
package control
