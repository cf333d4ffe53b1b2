package basefile

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
)

// TestCopies takes the copy of what was in force only where its address cannot be read.
func TestCopies(t *testing.T) {
	text, broken := "one", false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if broken {
			w.WriteHeader(http.StatusBadGateway)
		}
		_, _ = w.Write([]byte(text))
	}))
	defer server.Close()
	c := Copies{Dir: t.TempDir() + "/copies"}
	data, err := c.Read(t.Context(), server.URL)
	if err != nil || string(data) != "one" {
		t.Fatalf("%q, %v", data, err)
	}
	broken = true
	if data, err := c.Read(t.Context(), server.URL); err == nil || data != nil {
		t.Fatalf("%q is taken, and was never in force", data)
	}
	for _, kept := range []string{"one", "two", "two"} {
		if err := c.Keep(server.URL, []byte(kept)); err != nil {
			t.Fatal(err)
		}
		data, err := c.Read(t.Context(), server.URL)
		if _, ok := errors.AsType[*CopyError](err); !ok || string(data) != kept {
			t.Errorf("%q, %v; want the copy %q", data, err, kept)
		}
	}
	if err := os.Chmod(c.file(server.URL), 0o666); err != nil {
		t.Fatal(err)
	}
	if data, err := c.Read(t.Context(), server.URL); err == nil || data != nil {
		t.Errorf("%q is taken, which others may write", data)
	}
	broken, text = false, "three"
	if data, err := c.Read(t.Context(), server.URL); err != nil || string(data) != "three" {
		t.Errorf("%q, %v", data, err)
	}
}
