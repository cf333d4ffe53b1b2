package daemon

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/config"
)

// TestBaseCopy starts again while the address of a base cannot be read: with what was in force.
func TestBaseCopy(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	gone := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if gone {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write(signed(t, strings.TrimPrefix(r.URL.Path, "/")))
	}))
	defer server.Close()
	key := strings.Split(string(signed(t, "k.pub")), "\n")[1]
	file := filepath.Join(t.TempDir(), "petrigate.yaml")
	text := "state: { driver: memory }\nconsole: { http: \"off\" }\nextends: [ { url: " + server.URL + "/b7.yaml, key: \"" + key + "\" } ]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	load := func() (*config.Config, error) {
		return config.Load(config.Options{Path: file, Fetch: Fetching(t.Context())})
	}
	gone = true
	if _, err := load(); err == nil || !strings.Contains(err.Error(), "503") {
		t.Fatalf("a first start without the base: %v", err)
	}
	gone = false
	c, err := load()
	if err != nil {
		t.Fatal(err)
	}
	result, known, err := Policy(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	gone = true
	if _, err := load(); err == nil {
		t.Error("a base that was read and never in force is taken")
	}
	d, err := New(Options{Config: c, Policy: result, Known: known, Load: load})
	if err != nil {
		t.Fatal(err)
	}
	d.Close()
	c, err = load()
	if err != nil || len(c.Bases) != 1 || c.Bases[0].Version != 7 {
		t.Fatalf("the copy is not taken: %v", err)
	}
	if said := c.Warnings.Error(); !strings.Contains(said, "in force last is taken") || !strings.Contains(said, "petrigate.yaml:3:") {
		t.Errorf("the warnings: %s", said)
	}
	if _, _, err := Policy(t.Context(), c); err != nil {
		t.Error(err)
	}
}
