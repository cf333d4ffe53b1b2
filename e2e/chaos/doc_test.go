// Package chaos runs the petrigate binary over upstreams that crash, hang, flood,
// stop reading, answer late and answer twice, under many clients of both eras, and
// holds every answer, every record and every execution against each other:
//
//	go test ./e2e/chaos -v -timeout 0 -duration 10m -upstreams 8 -clients 64 -seed 1
//
// Each call carries a nonce of its own. The upstreams, which are this test binary
// again, record what they execute and answer with the nonce, so that at the end
// four accounts of each call lie side by side: what the client sent and was told,
// what its upstream did, and what the audit log says was decided and came of it.
// The load stops three times, and what petrigate then holds of goroutines, files,
// processes and memory must not have grown.
//
// Each violation is an error of the test; -v shows the figures and one line that
// sums up. It needs Linux, for /proc, and takes the binary that PETRIGATE_BIN names.
package chaos
