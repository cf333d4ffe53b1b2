package e2e

import (
	"path/filepath"
	"testing"
)

// TestOldServers checks that petrigate detects servers that only know HTTP+SSE, and that clients
// see the same as over streamable HTTP.
func TestOldServers(t *testing.T) {
	t.Parallel()
	binary, npm := need(t)
	for _, s := range scripts() {
		if !s.http {
			continue
		}
		root := filepath.Join(t.TempDir(), "root")
		for _, d := range drivers(npm)[:2] {
			t.Run(s.name+"/"+d.name, func(t *testing.T) {
				world(t, root)
				steps := s.steps(root, "")
				want := d.run(t, s.server(t, npm, root, true), steps)
				got := d.run(t, wrap(t, binary, s.old(t, npm, root), false), steps)
				compare(t, steps, got, want, d.modern)
			})
		}
	}
}

// old starts the server with HTTP+SSE.
func (s script) old(t *testing.T, npm, root string) endpoint {
	e := s.server(t, npm, root, false)
	port := freePort(t)
	e.Args[1], e.Env["PORT"] = "sse", port
	start(t, e, port)
	return endpoint{URL: "http://127.0.0.1:" + port + "/sse"}
}
