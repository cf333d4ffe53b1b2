package main

import (
	"context"
	"io"
	"strings"
	"testing"
)

// TestInterruptHidesErrorContext checks that the message after an interrupt does not describe the
// step that was interrupted.
func TestInterruptHidesErrorContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var said strings.Builder
	code := run(ctx, []string{"demo"}, stdio{in: strings.NewReader(""), out: io.Discard, err: &said})
	if code != exitFailed || said.String() != "petrigate: interrupted\n" {
		t.Errorf("%d: %s", code, said.String())
	}
}
