package main

import (
	"context"
	"io"
	"strings"
	"testing"
)

// TestInterruptHidesErrorContext: who ends the program is not told where it was.
func TestInterruptHidesErrorContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var said strings.Builder
	code := run(ctx, []string{"demo"}, stdio{in: strings.NewReader(""), out: io.Discard, err: &said})
	if code != exitFailed || said.String() != "petrigate: interrupted\n" {
		t.Errorf("%d: %s", code, said.String())
	}
}
