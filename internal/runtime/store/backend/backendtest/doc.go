// Package backendtest tests implementations of [backend.Backend].
package backendtest
