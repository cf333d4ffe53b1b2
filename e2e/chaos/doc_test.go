// Package chaos runs the petrigate binary in front of upstreams that crash, hang, flood, stop
// reading, answer late and answer twice, with many clients of both revision families, and compares
// every answer, every record and every execution:
//
//	go test ./e2e/chaos -v -timeout 0 -duration 10m -upstreams 8 -clients 64 -seed 1
//
// Each call carries a unique nonce. The upstreams, which are processes of this test binary, record
// every execution and include the nonce in their answers. At the end there are thus four accounts
// of each call: what the client has sent and received, what the upstream has done, and the decision
// and the outcome in the audit log. The load pauses three times, and the goroutines, files,
// processes and memory that petrigate then uses must not have grown.
//
// Each violation is an error of the test; -v prints the figures and a one-line summary. The test
// requires Linux, because it reads /proc, and uses the binary that PETRIGATE_BIN names.
package chaos
