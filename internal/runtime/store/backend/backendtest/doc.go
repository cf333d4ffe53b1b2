// Package backendtest tests that a database is what backend.Backend says.
package backendtest
