// Command petrigate is an MCP proxy. It lets an agent call a tool only if a policy made of Petri
// nets allows the call.
package main

import (
	"context"
	"os"
)

func main() {
	ctx, end := context.WithCancelCause(context.Background())
	endBySignal(end)
	os.Exit(run(ctx, os.Args[1:], stdio{in: os.Stdin, out: os.Stdout, err: os.Stderr, hup: newHangUps(end)}))
}
