// Command petrigate is an MCP proxy that lets an agent call a tool when a
// policy of Petri nets allows it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	ctx, hung := context.WithCancelCause(ctx)
	hup := newHangUps(func() { hung(errHungUp{}) })
	code := run(ctx, os.Args[1:], stdio{in: os.Stdin, out: os.Stdout, err: os.Stderr, hup: hup})
	stop()
	os.Exit(code)
}
