// Chaos runs the built petrigate over upstreams that crash, hang, flood, stop
// reading, answer late and answer twice, under many clients of both eras, and
// holds every answer, every record and every execution against each other:
//
//	go run ./e2e/chaos -duration 10m -upstreams 8 -clients 64 -seed 1
//
// Each call carries a nonce of its own. The upstreams record what they execute
// and answer with the nonce, so that at the end four accounts of each call lie
// side by side: what the client sent and was told, what its upstream did, and
// what the audit log says was decided and came of it. The load stops three
// times, and what petrigate then holds of goroutines, files, processes and
// memory must not have grown.
//
// It prints a line for each violation, the figures, and one line that sums up;
// its exit code is 1 if there was any violation. It needs Linux, for /proc.
package main
